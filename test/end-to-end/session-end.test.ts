/**
 * The end of a session. A program in the middle of a block reads that block to its end, and the next block is an error.
 * Directories that the session made are gone. Processes and shared memory: lifecycle.test.ts.
 */
import { execFile } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("session-end");

/** As a program of its own: reading memory that is gone ends the process. */
async function outputOf(name: string, ending: string): Promise<unknown> {
  const path = join(sessions.directory, `${name}.mjs`);
  writeFileSync(
    path,
    `import { readFileSync, readdirSync } from "node:fs";
    import { session } from ${JSON.stringify(import.meta.resolve("spillway"))};
    const s = session({ workers: 2, progress: false, localDirectory: ${JSON.stringify(sessions.localDirectory)}, objectStoreMemory: "8 MiB", targetMaxBlockSize: "64 KiB" });
    const rows = () => s.range(100_000).map((row) => ({ id: row.id, text: "row " + row.id }));
    const isSupervisor = (pid) => {
      try {
        return readFileSync("/proc/" + pid + "/stat", "utf8").split(") ")[1].split(" ")[1] === String(process.pid)
          && readFileSync("/proc/" + pid + "/cmdline", "utf8").includes("supervisor/main.js");
      } catch {
        return false;
      }
    };
    const killSupervisor = () => readdirSync("/proc").filter((pid) => /^\\d+$/.test(pid) && isSupervisor(pid)).forEach((pid) => process.kill(Number(pid), "SIGKILL"));
    const running = rows().iterRows();
    const batches = rows().iterBatches({ batchSize: 10 });
    await Promise.all([running.next(), batches.next()]);
    const gone = s.range(1e9).map((row) => row).count().catch((error) => error.name);
    ${ending}
    const names = [await gone];
    for (const iterator of [running, batches]) {
      try {
        for (let i = 1; ; i++) {
          const { value, done } = await iterator.next();
          if (done) throw new Error("all rows of a session that is gone");
          if (Array.isArray(value.text) ? value.text.some((text) => !text.startsWith("row ")) : value.text !== "row " + value.id) throw new Error("wrong row " + JSON.stringify(value));
        }
      } catch (error) {
        names.push(error.name);
      }
    }
    console.log(JSON.stringify(names));`,
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [path]);
  expect(stderr).toBe("");
  return JSON.parse(stdout);
}

describe("a session that ends under a reader", () => {
  test("[A15] by close", async () => {
    expect(await outputOf("closed", "await s.close();")).toEqual(Array(3).fill("SessionClosedError"));
  });

  test("[A15] by the death of its supervisor", async () => {
    expect(await outputOf("killed", "killSupervisor();")).toEqual(Array(3).fill("SessionClosedError"));
    // What it left is for the next start to remove.
    const next = sessions.open();
    expect(await next.range(3).takeAll()).toHaveLength(3);
    await next.close();
  });
});

test("[A15] a local directory that was not there before is not there afterwards", async () => {
  const outer = join(sessions.directory, "outer");
  const one = sessions.open({ localDirectory: join(outer, "inner"), workers: 1 });
  expect(await one.range(3).count()).toBe(3);
  await one.close();
  expect(existsSync(outer)).toBe(false);
});
