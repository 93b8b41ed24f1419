/**
 * Tasks that run out of memory: how often they come again, what they ask for, what the operator remembers, the error at
 * the end.
 */
import { describe, expect, test } from "vitest";
import { FunctionError, toWire } from "../../src/errors/index.ts";
import type { WorkerId } from "../../src/protocol/index.ts";
import { NO_NEED } from "../../src/scheduler/needs/need.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { settings } from "../support/memory-settings.ts";
import { ScriptedSession, splits } from "./scripted-session.ts";
import { batched, COUNT, counting, KILLED, MIB, Oom, OUT_OF_HEAP, POOL } from "./starved.ts";

test("[M3] each retry has a smaller batch, later tasks of the operator begin with it, and the statistics say so", () => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 900 * MIB });
  session.put();
  session.start(counting(2), 1);
  expect(session.taskOf(1).batchSize).toBeUndefined();
  session.ends(1, KILLED);
  session.wakes();
  session.up(2);
  expect(session.taskOf(2)).toMatchObject({ id: session.taskOf(1).id, batchSize: 512, attempt: 1 });
  session.done(2);
  expect(session.taskOf(2)).toMatchObject({ index: 1, batchSize: 512 });
  session.done(2);
  const [finished] = session.wasTold("finished");
  expect(finished?.stats.operators[0]).toMatchObject({ retries: 0, oomRetries: 1, learned: { batchSize: 512 } });
  expect(session.retries).toMatchObject([{ operator: "op0", attempt: 1, need: { batchSize: 512, alone: false } }]);
  expect(session.notices()).toEqual([
    "op0: a task ran out of memory (the system's OOM killer ended its worker: its control group (container) was at its memory limit). " +
      "It runs again, and so do the tasks after it: batches of 512 rows.",
  ]);
});

test("[M3] the first smaller batch is half of the rows that a task has, where these are fewer than a batch", () => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 900 * MIB });
  session.put();
  const few = { kind: "sql", sql: "range(0, 100)", files: [], rows: 100 } as const;
  session.start(counting(2, { input: { kind: "splits", splits: [few, few] } }), 1);
  session.ends(1, KILLED);
  session.wakes();
  session.up(2);
  expect(session.taskOf(2)).toMatchObject({ id: session.taskOf(1).id, batchSize: 50, attempt: 1 });
});

test("[M3] what a run before has learned, the first task begins with", () => {
  const session = new Oom(2, 8, { pool: POOL });
  session.put();
  const learned = { batchSize: 64, atOnce: 1, alone: false, memory: 300 * MIB };
  session.start(counting(2, { learned }), 1);
  expect(session.taskOf(1).batchSize).toBe(64);
  expect(session.tasksOf(2)).toEqual([]);
  session.done(1);
  session.done(1);
  expect(session.wasTold("finished")[0]?.stats.operators[0]).toMatchObject({ oomRetries: 0, learned });
});

test("[M3] it comes again after half a second, then after twice as long each time, and others run meanwhile", () => {
  const session = new Oom(1, 8, { pool: POOL });
  session.put();
  session.start(counting(3, { maxOomRetries: 9 }), 1);
  const { id } = session.taskOf(1);
  session.ends(1, KILLED);
  session.up(2);
  expect(session.taskOf(2).index).toBe(1);
  session.done(2);
  expect(session.taskOf(2).index).toBe(2);
  session.now = 499;
  session.done(2);
  expect(session.tasksOf(2)).not.toContain(id);
  session.now = 500;
  session.tell({ type: "tick" });
  expect(session.taskOf(2).id).toBe(id);
  const rests = [1000, 2000, 4000, 8000, 8000];
  for (const [i, rest] of rests.entries()) {
    session.ends(2 + i, KILLED);
    session.up(3 + i);
    session.now += rest - 1;
    session.tell({ type: "tick" });
    expect(session.tasksOf(3 + i)).toEqual([]);
    expect(session.scheduler.alarmAt).toBe(session.now + 1);
    session.now += 1;
    session.tell({ type: "tick" });
    expect(session.tasksOf(3 + i)).toEqual([id]);
  }
});

describe("[M3] a worker that was full when the task came", () => {
  const OF_1000 = { pool: POOL, workerMemory: 500 * MIB, memory: settings() };
  const TERMINATED = ended({ signal: "SIGTERM", cause: "terminate" });

  test("is not the task's doing: it is run again as it was, in another", () => {
    const session = new Oom(1, 8, OF_1000);
    session.put();
    session.start(counting(3), 1);
    session.reads({ 1: 20 * MIB });
    session.done(1);
    session.now += 150;
    session.reads({ 1: 490 * MIB });
    session.endsAndComesAgain(1, TERMINATED, 2);
    expect(session.needs).toEqual([NO_NEED]);
    expect(session.notices().at(-1)).toContain("It runs again, and so do the tasks after it: as it was.");
    expect(session.taskOf(2).batchSize).toBeUndefined();
    // But once only.
    session.endsAndComesAgain(2, TERMINATED, 3);
    expect(session.taskOf(3).batchSize).toBe(512);
  });

  test("be it slowly, by each of those before: it is a leak", () => {
    const session = new Oom(1, 8, { ...OF_1000, memory: settings({ spill: false }) });
    session.put();
    session.start(counting(9), 1);
    for (const mib of [20, 60, 100, 140, 180]) {
      session.now += 300;
      session.reads({ 1: mib * MIB });
      session.done(1);
    }
    session.now += 1000;
    session.endsAndComesAgain(1, OUT_OF_HEAP, 2);
    expect(session.needs).toEqual([NO_NEED]);
  });

  test("where it was seen to have had little, it was the task", () => {
    const session = new Oom(1, 8, OF_1000);
    session.put();
    session.start(counting(3), 1);
    session.done(1);
    for (const mib of [20, 20, 20, 490]) {
      session.now += 200;
      session.reads({ 1: mib * MIB });
    }
    session.ends(1, TERMINATED);
    expect(session.needs).toMatchObject([{ batchSize: 512 }]);
  });
});

test.each([
  ["as it was", NO_NEED, undefined],
  ["smaller batches", { ...NO_NEED, batchSize: 512 }, 10],
  ["fewer at once", { ...NO_NEED, atOnce: 1, memory: MIB }, 5],
  ["alone", { ...NO_NEED, atOnce: 1, alone: true }, 1],
])("[M3] of an async function fewer calls are under way, the less it asks for: %s", (_, learned, calls) => {
  const session = new Oom(1, 8, { pool: POOL });
  session.put();
  session.start(counting(1, { steps: batched(1024, "mapBatches", false, 20), learned }), 1);
  expect(session.taskOf(1).maxInFlight).toBe(calls);
});

test.each([
  [200, "its worker reached its heap limit of 190 MiB"],
  [500, "its worker was refused memory and ended itself: it may use at most 512 MiB"],
])("[D4] V8 that ends with %i MiB of 512 in its process: %s", (mib, text) => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 512 * MIB, workerHeap: 190 * MIB });
  session.put();
  session.start(counting(1), 1);
  session.ends(1, ended({ signal: "SIGABRT", cause: "heap", curve: [{ at: 0, private: mib * MIB }] }));
  expect(session.notices().at(-1)).toContain(`a task ran out of memory (${text}).`);
});

test("[M3] no more at once are told than there are workers", () => {
  const session = new Oom(2, 8, { pool: { ...POOL, memory: 32 * 1024 * MIB }, workerMemory: 512 * MIB });
  session.put();
  session.start(counting(2, { steps: batched(1, "map") }), 1);
  session.ends(1, OUT_OF_HEAP);
  expect(session.needs).toEqual([{ batchSize: null, atOnce: 2, alone: false, memory: 1024 * MIB }]);
});

test("[M3] running out of memory does not count as a crash, nor a crash as running out of memory", () => {
  const session = new Oom(1, 8, { pool: POOL });
  session.put();
  session.start(counting(1, { maxRetries: 1, maxOomRetries: 1 }), 1);
  session.endsAndComesAgain(1, KILLED, 2);
  session.ends(2, ended());
  session.up(3);
  expect(session.taskOf(3).attempt).toBe(2);
  session.ends(3, ended());
  expect(session.error?.name).toBe("WorkerDiedError");
  expect(session.wasTold("failed")[0]?.stats.operators[0]).toMatchObject({ retries: 1, oomRetries: 1 });
});

test("[M3] a function that was refused memory ran out of it; any other error of it is its own", () => {
  const session = new Oom(1, 8, { pool: POOL });
  session.put();
  session.start(counting(1), 1);
  const refused = {
    name: "FunctionError",
    message: "mapBatches(fn) failed on batch 1: RangeError: Array buffer allocation failed",
    stack: null,
    fields: { errorName: "RangeError" },
  };
  session.says(1, { type: "failed", task: session.taskOf(1).id, error: refused });
  session.wakes();
  expect(session.taskOf(1)).toMatchObject({ batchSize: 512, attempt: 1 });
  const own = { ...refused, message: "mapBatches(fn) failed on batch 1: RangeError: Invalid array length" };
  session.says(1, { type: "failed", task: session.taskOf(1).id, error: own });
  expect(session.error?.name).toBe("FunctionError");
});

test("[D4] a function whose child process the system has killed for memory ran out of it", () => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 900 * MIB });
  session.put();
  session.start(counting(1, { maxOomRetries: 1 }), 1);
  const fails = (worker: number) => {
    const error = toWire(new FunctionError("the child ended with SIGKILL", "op0", null, null, [], "Error", null));
    const message = { type: "failed", task: session.taskOf(worker).id, error } as const;
    session.tell({ type: "fromWorker", worker: worker as WorkerId, message, oomKill: "cgroupOom" });
  };
  fails(1);
  expect(session.needs).toMatchObject([{ batchSize: 512 }]);
  session.wakes();
  fails(1);
  expect(session.error?.name).toBe("OutOfMemoryError");
  expect(session.error?.message).toContain(
    "cause: the system's OOM killer ended a process that its function had started: its control group (container) was at its memory limit",
  );
  expect(session.error?.message).toContain("the child ended with SIGKILL");
});

test("[M3] a task that has handed blocks over keeps its batches, and asks for the rest", () => {
  const session = new Oom(2, 8, { pool: POOL, workerMemory: 400 * MIB });
  session.put();
  session.start(job("j", [tasks(0, splits(2), { steps: batched(1024) })]), 4);
  session.asks(1);
  session.handsOver(1);
  session.ends(1, KILLED);
  expect(session.needs).toEqual([{ batchSize: null, atOnce: 1, alone: false, memory: null }]);
  session.up(3);
  session.wakes();
  // The other one still runs, and there is to be one at once.
  expect(session.tasksOf(3)).toEqual([]);
  session.done(2);
  const again = [...session.toWorker(2), ...session.toWorker(3)].findLast((message) => message.type === "run");
  expect(again?.type === "run" ? again.task : null).toMatchObject({ index: 0, handedOver: [{ rows: 1 }] });
  expect(again?.type === "run" ? again.task.batchSize : 0).toBeUndefined();
});

test("[M3] fewer at once: what one was seen to have is reserved for each", () => {
  const session = new Oom(4, 8, {
    pool: POOL,
    workerMemory: 400 * MIB,
    resources: { cpu: 4, gpu: 0, memory: POOL.memory },
  });
  session.put();
  session.start(counting(8, { steps: batched(1, "map") }), 1);
  const reading = { worker: 1 as WorkerId, private: 350 * MIB, shared: 0, children: 0 };
  const none = { private: 0, shared: 0, children: 0 };
  session.tell({ type: "memory", workers: [reading], supervisor: none, program: none, used: null });
  session.ends(1, KILLED);
  expect(session.needs).toEqual([{ batchSize: null, atOnce: 2, alone: false, memory: 350 * MIB }]);
  session.up(5);
  session.wakes();
  for (const worker of [2, 3]) session.done(worker);
  // Worker 4 still has one that was started before; one more may run beside it.
  const running = [2, 3, 5].filter((worker) => session.tasksOf(worker).length > (worker === 5 ? 0 : 1));
  expect(running.length).toBe(1);
  session.program({ type: "resources", request: 7 });
  expect(session.wasTold("resources").at(-1)?.resources.used.memory).toBe(350 * MIB);
});

test("[M3] alone: it starts when nobody else computes, nothing starts beside it, idle workers end and come back", () => {
  const session = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  session.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  session.start(job("first", [tasks(0, splits(2), { sink: COUNT })]), 1);
  session.start(job("second", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  expect([session.taskOf(1).job, session.taskOf(2).job]).toEqual(["first", "first"]);
  session.done(1);
  // One still computes; and nobody else begins before it.
  session.start(job("third", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(session.ordered("replace")).toBe(0);
  expect(session.tasksOf(1).length).toBe(1);
  session.done(2);
  // All that tasks have: what the pool has beside the store and the program.
  const memory = POOL.memory - POOL.overhead - 8 * PAGE;
  expect(session.commands.find((one) => one.type === "replace")).toMatchObject({ memory });
});

test("[M3] alone, in the worker that has all the memory; the others come back when something else begins", () => {
  const session = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  session.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  const memory = POOL.memory - POOL.overhead - 8 * PAGE;
  session.tell({ type: "open" });
  session.start(job("j", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  const replaced = session.commands.find((one) => one.type === "replace");
  if (replaced?.type !== "replace") throw new Error("no larger worker was ordered");
  session.ends(replaced.worker, ended({ cause: "asked", exitCode: 0 }));
  session.up(3, { memory });
  expect(session.taskOf(3)).toMatchObject({ batchSize: 4, lease: { threads: 1 } });
  expect(session.ordered("dismiss")).toBe(1);
  session.ends(replaced.worker === 1 ? 2 : 1, ended({ cause: "asked", exitCode: 0 }));
  expect(session.ordered("spawn")).toBe(0);
  session.start(job("other", [tasks(0, splits(2), { sink: COUNT })]), 1);
  expect(session.tasksOf(3).length).toBe(1);
  session.done(3);
  // The other job has had nothing yet: its turn, and its workers.
  expect(session.taskOf(3).job).toBe("other");
  expect(session.ordered("spawn")).toBe(1);
});

test("[M3] a job that is cancelled while it waits to be alone holds nobody up", () => {
  const session = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  session.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  session.start(job("first", [tasks(0, splits(1), { sink: COUNT })]), 1);
  const waiting = job("waiting", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]);
  session.start(waiting, 1);
  session.start(job("third", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(session.tasksOf(2)).toEqual([]);
  session.program({ type: "cancel", job: waiting.id });
  expect(session.taskOf(2).job).toBe("third");
});

test("[M3] a task that was next to be alone no longer holds others up when nothing computes", () => {
  const session = new ScriptedSession(2, 100);
  const learned = { batchSize: null, atOnce: 1, alone: true, memory: null };
  session.start(job("first", [tasks(0, splits(1))]));
  session.start(job("second", [tasks(0, splits(1))]));
  session.start(job("forgotten", [tasks(0, splits(2), { learned })]));
  // While two tasks compute, the third one is next; the extra worker is not kept for it.
  session.up(3);
  expect(session.tasksOf(3)).toEqual([]);
  expect(session.commands.at(-1)).toEqual({ type: "dismiss", worker: 3 });
  session.dies(3, { cause: "asked" });
  // Nobody reads these jobs, so their tasks wait for room for ever, and keep their workers.
  for (const worker of [1, 2]) while (session.asks(worker)) session.handsOver(worker);
  session.start(job("read", [tasks(0, splits(1))]), 1);
  session.now += 1_000;
  session.tell({ type: "tick" });
  expect(session.ordered("spawn")).toBe(1);
});

test.each([
  ["little is no company that matters", 80, 1],
  ["much is waited for", 95, 0],
])("[M3] to be alone, a task that has computed for ten seconds and has %s", (_, mib, replaced) => {
  const session = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  session.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  session.start(job("endless", [tasks(0, splits(1), { sink: COUNT })]), 1);
  session.start(job("waiting", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  session.now += 9_999;
  session.reads({ 1: mib * MIB, 2: 20 * MIB });
  expect(session.ordered("replace")).toBe(0);
  session.now += 1;
  session.reads({ 1: mib * MIB, 2: 20 * MIB });
  expect(session.ordered("replace")).toBe(replaced);
});

test("[M3] an instance of a class leaves a worker that is too small for it", () => {
  const session = new Oom(1, 8, { pool: POOL, workerMemory: 256 * MIB, workerHeap: 192 * MIB });
  session.put();
  const steps = batched(1, "mapBatches", true);
  session.start(counting(3, { steps, concurrency: { min: 1, max: 1 } }), 1);
  session.done(1);
  const refused = { name: "RangeError", message: "Array buffer allocation failed", stack: null, fields: {} };
  session.says(1, { type: "failed", task: session.taskOf(1).id, error: refused });
  expect(session.needs[0]).toMatchObject({ memory: 512 * MIB });
  expect(session.toWorker(1).at(-1)).toMatchObject({ type: "retire" });
  session.says(1, { type: "retired", job: counting(1).id, operator: 0, error: null });
  expect(session.commands.findLast((one) => one.type === "replace")).toMatchObject({ worker: 1, memory: 512 * MIB });
});

test("[D7] memory that a function asks for is reserved before its task starts, and free again after it", () => {
  const session = new ScriptedSession(4, 8, { resources: { cpu: 4, gpu: 0, memory: 5 * 2 ** 30 } });
  session.start(job("j", [tasks(0, splits(4), { sink: COUNT, request: { cpu: 1, gpu: 0, memory: 2 * 2 ** 30 } })]), 1);
  const used = () => {
    session.program({ type: "resources", request: 1 });
    return session.wasTold("resources").at(-1)?.resources.used.memory;
  };
  expect([1, 2, 3, 4].map((worker) => session.tasksOf(worker).length)).toEqual([1, 1, 0, 0]);
  expect(used()).toBe(4 * 2 ** 30);
  session.done(1);
  expect([1, 2, 3, 4].reduce((sum, worker) => sum + session.tasksOf(worker).length, 0)).toBe(3);
  expect(used()).toBe(4 * 2 ** 30);
  session.dies(2);
  expect(used()).toBeLessThanOrEqual(4 * 2 ** 30);
});

describe("memory that is refused to a task that has all there is", () => {
  const refuses = (session: Oom) => {
    const text = "map(fn) failed on row 3: RangeError: Array buffer allocation failed";
    const error = toWire(new FunctionError(text, "op0", 3, null, [], "RangeError", null));
    session.says(1, { type: "failed", task: session.taskOf(1).id, error });
    session.wakes();
  };
  const begin = (onError: "fail" | "skip", maxOomRetries = 4) => {
    const session = new Oom(1, 8, { pool: POOL, workerMemory: 1024 * MIB });
    session.put();
    session.start(counting(1, { maxOomRetries, steps: batched(1, "map", false, 1, onError) }), 1);
    return session;
  };

  test("[M3] is the row's doing: where onError drops rows, it comes once more and may drop it", () => {
    const session = begin("skip");
    expect(session.taskOf(1).blamesRows).toBeUndefined();
    refuses(session);
    expect(session.taskOf(1)).toMatchObject({ blamesRows: true, attempt: 1 });
    expect(session.notices().at(-1)).toMatch(/without the rows that need more memory than there is \(onError\)\.$/);
    // Its worker was full, not the row too large.
    refuses(session);
    expect(session.error?.name).toBe("OutOfMemoryError");
  });

  test("[M3] ends the job where onError drops nothing, or nothing is to be tried again", () => {
    for (const session of [begin("fail"), begin("skip", 0)]) {
      refuses(session);
      expect(session.error?.name).toBe("OutOfMemoryError");
    }
  });

  test("[M3] is tried with more first, where there is more", () => {
    const session = new Oom(1, 8, { pool: POOL, workerMemory: 256 * MIB });
    session.put();
    session.start(counting(1, { steps: batched(1, "map", false, 1, "skip") }), 1);
    refuses(session);
    expect(session.needs).toMatchObject([{ memory: 512 * MIB }]);
    expect(session.tasksOf(1)).toHaveLength(1);
  });
});
