import { expect, test } from "vitest";
import { boxed, runInBox } from "../support/box.ts";

boxed("a real kill of the system's OOM killer", () => {
  test("[D4] is told as the container's, with the kernel's own count; the session goes on", async () => {
    const run = await runInBox(512 * 2 ** 20, "oom-killed");
    expect(run.exitCode).toBe(0);
    expect(run.kills).toBeGreaterThan(0);
    const { failure, rows } = JSON.parse(run.stdout);
    expect(failure).toMatchObject({ name: "OutOfMemoryError", reason: "cgroupOom" });
    expect(failure.message).toMatch(
      /Exit type: NODE_OUT_OF_MEMORY; exit code: none; signal: SIGKILL; .*: [1-9]\d* in its control group/,
    );
    expect(rows).toBe(10);
    expect(run.stderr).toMatch(
      /1 workers \(tasks \/ actors\) killed due to memory pressure \(OOM\), 0 workers crashed/,
    );
  });

  test("[D4] in another container is no cause here", async () => {
    const { stdout } = await runInBox(512 * 2 ** 20, "killed-elsewhere");
    expect(JSON.parse(stdout)).toEqual({
      failed: { elsewhere: "SIGKILL", name: "FunctionError" },
      killed: { elsewhere: "SIGKILL", name: "WorkerDiedError", reason: "signal" },
    });
  });
});
