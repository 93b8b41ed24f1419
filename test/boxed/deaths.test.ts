import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { makeBox } from "../../bench/harness/box.ts";
import { boxed, runInBox } from "../support/box.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("boxed-deaths");

/** In a control group of its own, where this process is not. */
async function oomKillElsewhere(): Promise<void> {
  const box = await makeBox(64 * 2 ** 20);
  try {
    const greedy = "const kept = []; for (;;) kept.push(Buffer.alloc(2 ** 20, 1));";
    const [file = "", ...rest] = box.enter([process.execPath, "-e", greedy]);
    const [, signal] = await once(spawn(file, rest, { stdio: "ignore" }), "exit");
    expect(signal).toBe("SIGKILL");
  } finally {
    await box.remove();
  }
}

boxed("a real kill of the system's OOM killer", () => {
  test("[D4] is told as the container's, with the kernel's own count; the session goes on", {
    timeout: 60_000,
  }, async () => {
    const run = await runInBox(512 * 2 ** 20, "oom-killed");
    expect(run.exitCode).toBe(0);
    expect(run.kills).toBeGreaterThan(0);
    const { failure, rows } = JSON.parse(run.stdout);
    expect(failure).toMatchObject({ name: "OutOfMemoryError", cause_: "containerOom" });
    expect(failure.message).toMatch(
      /Exit type: NODE_OUT_OF_MEMORY; exit code: none; signal: SIGKILL; .*: [1-9]\d* in its control group/,
    );
    expect(rows).toBe(10);
    expect(run.stderr).toMatch(
      /1 workers \(tasks \/ actors\) killed due to memory pressure \(OOM\), 0 workers crashed/,
    );
  });

  test("[D4] in another control group is not why a worker was killed at the same time", async () => {
    const s = sessions.open({ workers: 1 });
    const ds = s.range(1).map(
      (row) => {
        process.kill(process.pid, "SIGKILL");
        return row;
      },
      { maxRetries: 0 },
    );
    await s.memory();
    await oomKillElsewhere();
    const error = await ds.takeAll().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ cause_: "signal", signal: "SIGKILL" });
    expect(String(error)).toMatch(/: 0 in its control group, [1-9]\d* on the machine/);
    await s.close();
  });
});
