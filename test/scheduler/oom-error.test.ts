/** The error of a task that ran out of memory for the last time: its whole story, whoever ended it. */
import { expect, test } from "vitest";
import { FunctionError, toWire } from "../../src/errors/index.ts";
import type { WorkerId } from "../../src/protocol/index.ts";
import { ended } from "../support/ends.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { counting, KILLED, MIB, Oom, OUT_OF_HEAP, POOL } from "./starved.ts";

test("[M4] after the last retry the job fails with the whole story; with maxOomRetries: 0 at once", () => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 256 * MIB, workerHeap: 192 * MIB });
  session.put();
  session.start(counting(1, { maxOomRetries: 0 }), 1);
  const node = {
    host: "node-7",
    used: 972 * MIB,
    total: 1024 * MIB,
    threshold: 0.95,
    users: [
      { pid: 1001, name: "node", private: 240 * MIB },
      { pid: 5, name: "postgres", private: 90 * MIB },
    ],
  };
  const curve = [{ at: 1, private: 240 * MIB }];
  session.ends(1, { ...OUT_OF_HEAP, node, curve, log: "/logs/worker-1.log", tail: "last words" });
  expect(session.error?.name).toBe("OutOfMemoryError");
  expect(session.error?.message).toBe(
    `Task was killed due to the node running low on memory.
  node: node-7, 972 MiB of 1.0 GiB used (94.9 %), threshold 95.0 %
  task: op0, j/0/0, process 1001, 240 MiB
  cause: its worker reached its heap limit of 192 MiB
  Exit type: NODE_OUT_OF_MEMORY; exit code: none; signal: SIGABRT; kills of the system's OOM killer while it lived: 0 in its control group, 0 on the machine.
  Its memory: 240 MiB at its last measurement.
  attempts: 1
    1. as it was: heap with 240 MiB
Top 2 memory users:
   PID    MEMORY  PROCESS
  1001   240 MiB  worker 1 (op0), this task
     5  90.0 MiB  postgres
Its log: cat /logs/worker-1.log
Its last output:
  last words
What helps, the most promising first:
  1. batchSize: 256 on mapBatches(fn), which has 1024.
  2. memory: "512 MiB" on mapBatches(fn): a task then starts only where so much is free, in a worker that has it.
  3. session({ memoryLimit: "512 MiB" }) instead of 256 MiB for each worker.
  4. A machine or control group with more memory than 1.0 GiB.`,
  );
  expect(session.error?.fields).toMatchObject({ operator: "op0", reason: "heap", memory: 240 * MIB, attempts: 1 });
});

test("[M4] where a function was refused memory and nobody died, the story is as whole", () => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 256 * MIB });
  session.put();
  session.start(counting(1, { maxOomRetries: 0 }), 1);
  const text = "mapBatches(fn) failed on batch 1: RangeError: Array buffer allocation failed";
  const error = toWire(new FunctionError(text, "op0", null, null, [], "RangeError", null));
  const users = [{ pid: 5, name: "postgres", private: 90 * MIB }];
  const node = { host: "node-7", used: 512 * MIB, total: 1024 * MIB, threshold: 0.95, users };
  const scene = { node, log: "/logs/worker-1.log" };
  const message = { type: "failed", task: session.taskOf(1).id, error } as const;
  session.tell({ type: "fromWorker", worker: 1 as WorkerId, message, scene });
  expect(session.error?.fields).toMatchObject({ reason: "allocation" });
  for (const part of [
    "  node: node-7, 512 MiB of 1.0 GiB used (50.0 %), threshold 95.0 %\n",
    "  cause: a function was refused memory: its worker may use at most 256 MiB\n",
    "Top 2 memory users:\n",
    "     5  90.0 MiB  postgres\n  1001   unknown  worker 1 (op0), this task\n",
    "Its log: cat /logs/worker-1.log\n",
  ]) {
    expect(session.error?.message).toContain(part);
  }
});

test("[M4] [D4] the victim is one of the top users with what it had, also where ten others have more or nobody saw it", () => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 256 * MIB });
  session.put();
  session.start(counting(1, { maxOomRetries: 0 }), 1);
  const users = Array.from({ length: 10 }, (_, i) => ({ pid: 10 + i, name: "other", private: (900 - i) * MIB }));
  const node = { host: "node-7", used: 972 * MIB, total: 1024 * MIB, threshold: 0.95, users };
  session.ends(1, { ...KILLED, node, curve: [{ at: 1, private: 240 * MIB }] });
  const lines = session.error?.message.split("\n") ?? [];
  const at = lines.indexOf("Top 10 memory users:");
  expect(lines.slice(at + 2, at + 12).map((line) => line.trim().split(/\s+/)[0])).toEqual([
    ...users.slice(0, 9).map(({ pid }) => String(pid)),
    "1001",
  ]);
  expect(lines[at + 11]).toBe("  1001  240 MiB  worker 1 (op0), this task");
});

test("[M4] [D4] the cause and the counters agree: the monitor claims to have been first only where the system did nothing", () => {
  const told = (kills: number, cause: "monitor" | "cgroupOom") => {
    const session = new Oom(1, 8, { pool: POOL, memory: MEMORY });
    session.put();
    session.start(counting(1, { maxOomRetries: 0 }), 1);
    session.seen(200);
    session.nodeUses(960);
    session.ends(1, ended({ signal: "SIGKILL", cause, oomKills: { container: kills, machine: kills } }));
    return session.error?.message ?? "";
  };
  expect(told(0, "monitor")).toContain("before the system would have ended anything");
  expect(told(0, "monitor")).toContain("  chosen: ");
  expect(told(1, "monitor")).not.toContain("before the system");
  expect(told(1, "cgroupOom")).toContain("cause: the system's OOM killer ended its worker");
  expect(told(1, "cgroupOom")).not.toContain("chosen:");
});
