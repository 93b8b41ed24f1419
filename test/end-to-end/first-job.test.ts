/** What `npm start` runs, on little data: on a terminal its dashboard waits for a key, elsewhere it ends by itself. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import type { JobCard, OperatorCard } from "../../src/dashboard/api.ts";
import { titleOf } from "../../src/dashboard/model/operator-title.ts";
import { ask, Page } from "../dashboard/page.ts";
import { testSessions } from "../support/sessions.ts";
import { inTerminal } from "../support/terminal.ts";
import { root } from "../support/tools.ts";

const { directory, localDirectory } = testSessions("first-job");
const ROWS = "20000";
const LINK = /http:\/\/127\.0\.0\.1:\d+\/\?token=\w+/;
const here = { cwd: root, env: { ...process.env, SPILLWAY_LOCAL_DIRECTORY: localDirectory } };

/** As `scripts/start.mjs` starts it, which only installs and builds before. */
function program(data: string): readonly string[] {
  const loader = ["--import", import.meta.resolve("tsx")];
  return [process.execPath, ...loader, "examples/first-job.ts", ROWS, join(directory, data)];
}

test("[W1] npm start on a terminal tells the link of its dashboard, which shows its job until a key is pressed", async () => {
  const seen: string[] = [];
  const { output, lines, code } = await inTerminal(program("terminal"), {
    ...here,
    columns: 200,
    seconds: 150,
    actions: [
      {
        after: "Press a key to end.",
        type: "x",
        async first(soFar) {
          const page = await Page.open(LINK.exec(soFar)?.[0] ?? null);
          await page.follow();
          const outcomes = () => page.all<JobCard>("job/").map(({ outcome }) => outcome);
          await expect.poll(outcomes).toEqual(["finished", "finished", "finished"]);
          for (const plan of page.all<OperatorCard["plan"]>("plan/")) seen.push(titleOf(plan));
          page.close();
        },
      },
    ],
  });
  expect(seen).toEqual(expect.arrayContaining(["readParquet->filter->map(fare)", "mapBatches(Tips)"]));
  expect(code).toBe(0);
  const link = LINK.exec(output)?.[0];
  const at = (line: string) => lines.findIndex((one) => one.startsWith(line));
  const told = [`spillway: dashboard at ${link}`, "Making 20,000 sample trips", "Total: ", "Press a key to end."];
  expect(told.map(at)).toEqual(told.map(at).toSorted((a, b) => a - b));
  expect(told.map(at)).not.toContain(-1);
  expect(lines).toContain(`The dashboard stays open at ${link}`);
  await expect(ask(link ?? "")).rejects.toThrow("ECONNREFUSED");
});

test("[W1] npm start without a terminal tells the link of its dashboard before its job, and ends by itself", async () => {
  const [node = "", ...rest] = program("elsewhere");
  const child = spawn(node, rest, { ...here, stdio: ["pipe", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect(code).toBe(0);
  expect(output).toMatch(new RegExp(`^Dashboard while it runs: ${LINK.source}\nMaking 20,000 sample trips`));
  expect(output).toMatch(/rows in \d+ files/);
  expect(output).not.toContain("Press a key");
  await expect(ask(LINK.exec(output)?.[0] ?? "")).rejects.toThrow("ECONNREFUSED");
});
