/** `spillway oom` after real kills: the story is the same while the session runs, and after it. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OutOfMemoryError } from "spillway";
import { beforeAll, expect, test } from "vitest";
import { spillway } from "../support/command-line.ts";
import { sessionNames, testSessions } from "../support/sessions.ts";

const sessions = testSessions("cli-oom");
const input = join(sessions.directory, "input");
let whileItRan = "";
let name = "";

beforeAll(async () => {
  mkdirSync(input);
  writeFileSync(join(input, "numbers.csv"), `n\n${Array.from({ length: 400 }, (_, n) => n).join("\n")}\n`);
  const worker = { memory: { monitorInterval: "50ms" } };
  const options = { workers: 1, memoryLimit: "300 MiB", objectStoreMemory: "32 MiB", maxOomRetries: 1, worker };
  const s = sessions.open(options);
  function hungry(batch: { n: ArrayLike<number> }) {
    const clock = new Int32Array(new SharedArrayBuffer(4));
    const kept = Array.from({ length: batch.n.length * 2 }, (_, i) => {
      // Slow towards its limit: it is looked at between the threshold and what it is refused.
      if (i > 150) Atomics.wait(clock, 0, 0, 12);
      return Buffer.alloc(1 << 20, 1);
    });
    return { n: [kept.length] };
  }
  const job = s.readCsv<{ n: number }>(join(input, "*.csv")).mapBatches(hungry, { batchSize: 400 }).takeAll();
  await expect(job).rejects.toThrow(OutOfMemoryError);
  [name = ""] = sessionNames(sessions.stateDirectory);
  whileItRan = spillway(["oom", name]).stdout;
  await s.close();
});

test("[M12] each kill has its curve, its task, operator and file, why it was chosen, attempts, remedies and log", () => {
  const { stdout, status } = spillway(["oom", name, "--number", "1"]);
  expect(status).toBe(0);
  expect(stdout).toMatch(/^1\. At \S+: worker \d+ \(process \d+\) ended: terminate$/m);
  expect(stdout).toMatch(/Task \S+ of readCsv->mapBatches/);
  expect(stdout).toContain(`It read ${join(input, "numbers.csv")}.`);
  expect(stdout).toMatch(/Why it was chosen: its memory of .* was above 0\.95 of its limit of 300 MiB/);
  expect(stdout).toMatch(/Its own memory before the end:\n.*│/);
  expect(stdout).toMatch(/300 MiB limit │/);
  expect(stdout).toMatch(/[▁▂▃▄▅▆▇█]\n/);
  expect(stdout).toMatch(/Memory used on the node:\n/);
  expect(stdout).toMatch(/^ +worker \d+ +\d+ MiB +\d+$/m);
  expect(stdout).toMatch(/^ +1\. as the operator says: ran out of memory.*\(terminate\)$/m);
  expect(stdout).toMatch(/^ +2\. batches of 200 rows.*: ran out of memory.*, and the job failed \(terminate\)$/m);
  expect(stdout).toMatch(/What to do, the smallest change first:\n +1\. batchSize: \d+ on mapBatches\(hungry\)/);
});

test("[M12] a session that has ended tells the same as while it ran", () => {
  const story = (text: string) => text.replace(/^Session .*$/m, "");
  expect(story(spillway(["oom", name]).stdout)).toBe(story(whileItRan));
  expect(whileItRan).toContain("2. At ");
});

test("[M12] a number that no story has is an error, and not a session without deaths", () => {
  for (const words of [
    ["--number", "9"],
    ["--number", "9", "--json"],
  ]) {
    const { stdout, stderr, status } = spillway(["oom", name, ...words]);
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    expect(stderr).toContain(`session ${name} has no story 9. There are the numbers 1, 2.`);
  }
});

test("[M12] for programs", () => {
  const deaths = JSON.parse(spillway(["oom", name, "--json"]).stdout);
  expect(deaths).toHaveLength(2);
  expect(deaths[0]).toMatchObject({
    number: 1,
    isMemory: true,
    files: [join(input, "numbers.csv")],
    gone: { reason: "terminate", limit: 300 * 2 ** 20 },
    shortage: { type: "oomRetry", attempt: 1 },
  });
  expect(deaths[0].gone.curve.length).toBeGreaterThan(1);
  expect(deaths[1].shortage.type).toBe("oomFailure");
  expect(deaths[1].shortage.remedies.length).toBeGreaterThan(0);
});

test("[W5] the report has the same deaths", () => {
  const path = join(sessions.directory, "oom.html");
  expect(spillway(["report", name, "-o", path]).status).toBe(0);
  const page = readFileSync(path, "utf8");
  expect(page.match(/<section class="card">/g)).toHaveLength(2);
  expect(page).toContain("What to do, the smallest change first:");
  expect(page).toMatch(/<section class="card finding">/);
  expect(page).toContain(join(input, "numbers.csv"));
  expect(page).toMatch(/Its own memory: from .* to .*, limit 300 MiB/);
});
