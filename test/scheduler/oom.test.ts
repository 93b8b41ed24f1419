/** Tasks that run out of memory: how often they come again, what they ask for, what the operator remembers, the error at the end. */
import { describe, expect, test } from "vitest";
import { FunctionError, toWire } from "../../src/errors/index.ts";
import type { WorkerId } from "../../src/protocol/index.ts";
import { NO_NEED } from "../../src/scheduler/needs/need.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { ended } from "../support/ends.ts";
import { settings } from "../support/memory-settings.ts";
import { batched, COUNT, counting, KILLED, MIB, Oom, OUT_OF_HEAP, POOL } from "./starved.ts";
import { splits, Table } from "./table.ts";

test("[M3] each retry has a smaller batch, later tasks of the operator begin with it, and the statistics say so", () => {
  const table = new Oom(1, 8, { pool: POOL, workerMemory: 900 * MIB });
  table.put();
  table.start(counting(2), 1);
  expect(table.taskOf(1).batchSize).toBeUndefined();
  table.ends(1, KILLED);
  table.wakes();
  table.up(2);
  expect(table.taskOf(2)).toMatchObject({ id: table.taskOf(1).id, batchSize: 512, attempt: 1 });
  table.done(2);
  expect(table.taskOf(2)).toMatchObject({ index: 1, batchSize: 512 });
  table.done(2);
  const [finished] = table.wasTold("finished");
  expect(finished?.stats.operators[0]).toMatchObject({ retries: 0, oomRetries: 1, learned: { batchSize: 512 } });
  expect(table.retries).toMatchObject([{ operator: "op0", attempt: 1, need: { batchSize: 512, alone: false } }]);
  expect(table.notices()).toEqual([
    "op0: a task ran out of memory (the system's OOM killer ended its worker: the container (control group) was at its limit). " +
      "It runs again, and so do the tasks after it: batches of 512 rows.",
  ]);
});

test("[M3] what a run before has learned, the first task begins with", () => {
  const table = new Oom(2, 8, { pool: POOL });
  table.put();
  const learned = { batchSize: 64, atOnce: 1, alone: false, memory: 300 * MIB };
  table.start(counting(2, { learned }), 1);
  expect(table.taskOf(1).batchSize).toBe(64);
  expect(table.tasksOf(2)).toEqual([]);
  table.done(1);
  table.done(1);
  expect(table.wasTold("finished")[0]?.stats.operators[0]).toMatchObject({ oomRetries: 0, learned });
});

test("[M3] it comes again after half a second, then after twice as long each time, and others run meanwhile", () => {
  const table = new Oom(1, 8, { pool: POOL });
  table.put();
  table.start(counting(3, { maxOomRetries: 9 }), 1);
  const { id } = table.taskOf(1);
  table.ends(1, KILLED);
  table.up(2);
  expect(table.taskOf(2).index).toBe(1);
  table.done(2);
  expect(table.taskOf(2).index).toBe(2);
  table.now = 499;
  table.done(2);
  expect(table.tasksOf(2)).not.toContain(id);
  table.now = 500;
  table.tell({ type: "tick" });
  expect(table.taskOf(2).id).toBe(id);
  const rests = [1000, 2000, 4000, 8000, 8000];
  for (const [i, rest] of rests.entries()) {
    table.ends(2 + i, KILLED);
    table.up(3 + i);
    table.now += rest - 1;
    table.tell({ type: "tick" });
    expect(table.tasksOf(3 + i)).toEqual([]);
    expect(table.scheduler.alarmAt).toBe(table.now + 1);
    table.now += 1;
    table.tell({ type: "tick" });
    expect(table.tasksOf(3 + i)).toEqual([id]);
  }
});

describe("[M3] a worker that was full when the task came", () => {
  const OF_1000 = { pool: POOL, workerMemory: 500 * MIB, memory: settings() };
  const TERMINATED = ended({ signal: "SIGTERM", cause: "terminate" });

  test("is not the task's doing: it is run again as it was, in another", () => {
    const table = new Oom(1, 8, OF_1000);
    table.put();
    table.start(counting(3), 1);
    table.reads({ 1: 20 * MIB });
    table.done(1);
    table.now += 150;
    table.reads({ 1: 490 * MIB });
    table.endsAndComesAgain(1, TERMINATED, 2);
    expect(table.needs).toEqual([NO_NEED]);
    expect(table.notices().at(-1)).toContain("It runs again, and so do the tasks after it: as it was.");
    expect(table.taskOf(2).batchSize).toBeUndefined();
    // But once only.
    table.endsAndComesAgain(2, TERMINATED, 3);
    expect(table.taskOf(3).batchSize).toBe(512);
  });

  test("be it slowly, by each of those before: it is a leak", () => {
    const table = new Oom(1, 8, { ...OF_1000, memory: settings({ spill: false }) });
    table.put();
    table.start(counting(9), 1);
    for (const mib of [20, 60, 100, 140, 180]) {
      table.now += 300;
      table.reads({ 1: mib * MIB });
      table.done(1);
    }
    table.now += 1000;
    table.endsAndComesAgain(1, OUT_OF_HEAP, 2);
    expect(table.needs).toEqual([NO_NEED]);
  });

  test("where it was seen to have had little, it was the task", () => {
    const table = new Oom(1, 8, OF_1000);
    table.put();
    table.start(counting(3), 1);
    table.done(1);
    for (const mib of [20, 20, 20, 490]) {
      table.now += 200;
      table.reads({ 1: mib * MIB });
    }
    table.ends(1, TERMINATED);
    expect(table.needs).toMatchObject([{ batchSize: 512 }]);
  });
});

test.each([
  ["as it was", NO_NEED, undefined],
  ["smaller batches", { ...NO_NEED, batchSize: 512 }, 10],
  ["fewer at once", { ...NO_NEED, atOnce: 1, memory: MIB }, 5],
  ["alone", { ...NO_NEED, atOnce: 1, alone: true }, 1],
])("[M3] of an async function fewer calls are under way, the less it asks for: %s", (_, learned, calls) => {
  const table = new Oom(1, 8, { pool: POOL });
  table.put();
  table.start(counting(1, { steps: batched(1024, "mapBatches", false, 20), learned }), 1);
  expect(table.taskOf(1).maxInFlight).toBe(calls);
});

test.each([
  [200, "its worker reached its heap limit of 190 MiB"],
  [500, "its worker was refused memory and ended itself: it may have no more than 512 MiB"],
])("[D4] V8 that ends with %i MiB of 512 in its process: %s", (mib, text) => {
  const table = new Oom(1, 8, { pool: POOL, workerMemory: 512 * MIB, workerHeap: 190 * MIB });
  table.put();
  table.start(counting(1), 1);
  table.ends(1, ended({ signal: "SIGABRT", cause: "heap", curve: [{ at: 0, private: mib * MIB }] }));
  expect(table.notices().at(-1)).toContain(`a task ran out of memory (${text}).`);
});

test("[M3] no more at once are told than there are workers", () => {
  const table = new Oom(2, 8, { pool: { ...POOL, memory: 32 * 1024 * MIB }, workerMemory: 512 * MIB });
  table.put();
  table.start(counting(2, { steps: batched(1, "map") }), 1);
  table.ends(1, OUT_OF_HEAP);
  expect(table.needs).toEqual([{ batchSize: null, atOnce: 2, alone: false, memory: 1024 * MIB }]);
});

test("[M3] running out of memory does not count as a crash, nor a crash as running out of memory", () => {
  const table = new Oom(1, 8, { pool: POOL });
  table.put();
  table.start(counting(1, { maxRetries: 1, maxOomRetries: 1 }), 1);
  table.endsAndComesAgain(1, KILLED, 2);
  table.ends(2, ended());
  table.up(3);
  expect(table.taskOf(3).attempt).toBe(2);
  table.ends(3, ended());
  expect(table.error?.name).toBe("WorkerDiedError");
  expect(table.wasTold("failed")[0]?.stats.operators[0]).toMatchObject({ retries: 1, oomRetries: 1 });
});

test("[M3] a function that was refused memory ran out of it; any other error of it is its own", () => {
  const table = new Oom(1, 8, { pool: POOL });
  table.put();
  table.start(counting(1), 1);
  const refused = {
    name: "FunctionError",
    message: "mapBatches(fn) failed on batch 1: RangeError: Array buffer allocation failed",
    stack: null,
    fields: { errorName: "RangeError" },
  };
  table.says(1, { type: "failed", task: table.taskOf(1).id, error: refused });
  table.wakes();
  expect(table.taskOf(1)).toMatchObject({ batchSize: 512, attempt: 1 });
  const own = { ...refused, message: "mapBatches(fn) failed on batch 1: RangeError: Invalid array length" };
  table.says(1, { type: "failed", task: table.taskOf(1).id, error: own });
  expect(table.error?.name).toBe("FunctionError");
});

test("[D4] a function whose child process the system has killed for memory ran out of it", () => {
  const table = new Oom(1, 8, { pool: POOL, workerMemory: 900 * MIB });
  table.put();
  table.start(counting(1, { maxOomRetries: 1 }), 1);
  const fails = (worker: number) => {
    const error = toWire(new FunctionError("the child ended with SIGKILL", "op0", null, null, [], "Error", null));
    const message = { type: "failed", task: table.taskOf(worker).id, error } as const;
    table.tell({ type: "fromWorker", worker: worker as WorkerId, message, oomKill: "cgroupOom" });
  };
  fails(1);
  expect(table.needs).toMatchObject([{ batchSize: 512 }]);
  table.wakes();
  fails(1);
  expect(table.error?.name).toBe("OutOfMemoryError");
  expect(table.error?.message).toContain(
    "cause: the system's OOM killer ended a process that its function had started: the container (control group) was at its limit",
  );
  expect(table.error?.message).toContain("the child ended with SIGKILL");
});

test("[M3] a task that has handed blocks over keeps its batches, and asks for the rest", () => {
  const table = new Oom(2, 8, { pool: POOL, workerMemory: 400 * MIB });
  table.put();
  table.start(job("j", [tasks(0, splits(2), { steps: batched(1024) })]), 4);
  table.asks(1);
  table.handsOver(1);
  table.ends(1, KILLED);
  expect(table.needs).toEqual([{ batchSize: null, atOnce: 1, alone: false, memory: null }]);
  table.up(3);
  table.wakes();
  // The other one still runs, and there is to be one at once.
  expect(table.tasksOf(3)).toEqual([]);
  table.done(2);
  const again = [...table.toWorker(2), ...table.toWorker(3)].findLast((message) => message.type === "run");
  expect(again?.type === "run" ? again.task : null).toMatchObject({ index: 0, handedOver: [{ rows: 1 }] });
  expect(again?.type === "run" ? again.task.batchSize : 0).toBeUndefined();
});

test("[M3] fewer at once: what one was seen to have is reserved for each", () => {
  const table = new Oom(4, 8, {
    pool: POOL,
    workerMemory: 400 * MIB,
    resources: { cpu: 4, gpu: 0, memory: POOL.memory },
  });
  table.put();
  table.start(counting(8, { steps: batched(1, "map") }), 1);
  const reading = { worker: 1 as WorkerId, private: 350 * MIB, shared: 0, children: 0 };
  const none = { private: 0, shared: 0, children: 0 };
  table.tell({ type: "memory", workers: [reading], supervisor: none, program: none });
  table.ends(1, KILLED);
  expect(table.needs).toEqual([{ batchSize: null, atOnce: 2, alone: false, memory: 350 * MIB }]);
  table.up(5);
  table.wakes();
  for (const worker of [2, 3]) table.done(worker);
  // Worker 4 still has one that was started before; one more may run beside it.
  const running = [2, 3, 5].filter((worker) => table.tasksOf(worker).length > (worker === 5 ? 0 : 1));
  expect(running.length).toBe(1);
  table.program({ type: "resources", request: 7 });
  expect(table.wasTold("resources").at(-1)?.resources.used.memory).toBe(350 * MIB);
});

test("[M3] alone: it starts when nobody else computes, nothing starts beside it, idle workers end and come back", () => {
  const table = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  table.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  table.start(job("first", [tasks(0, splits(2), { sink: COUNT })]), 1);
  table.start(job("second", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  expect([table.taskOf(1).job, table.taskOf(2).job]).toEqual(["first", "first"]);
  table.done(1);
  // One still computes; and nobody else begins before it.
  table.start(job("third", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(table.ordered("replace")).toBe(0);
  expect(table.tasksOf(1).length).toBe(1);
  table.done(2);
  // All that tasks have: what the pool has beside the store and the program.
  const memory = POOL.memory - POOL.overhead - 8 * PAGE;
  expect(table.commands.find((one) => one.type === "replace")).toMatchObject({ memory });
});

test("[M3] alone, in the worker that has all the memory; the others come back when something else begins", () => {
  const table = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  table.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  const memory = POOL.memory - POOL.overhead - 8 * PAGE;
  table.tell({ type: "open" });
  table.start(job("j", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  const replaced = table.commands.find((one) => one.type === "replace");
  if (replaced?.type !== "replace") throw new Error("no larger worker was ordered");
  table.ends(replaced.worker, ended({ cause: "asked", exitCode: 0 }));
  table.up(3, { memory });
  expect(table.taskOf(3)).toMatchObject({ batchSize: 4, lease: { threads: 1 } });
  expect(table.ordered("dismiss")).toBe(1);
  table.ends(replaced.worker === 1 ? 2 : 1, ended({ cause: "asked", exitCode: 0 }));
  expect(table.ordered("spawn")).toBe(0);
  table.start(job("other", [tasks(0, splits(2), { sink: COUNT })]), 1);
  expect(table.tasksOf(3).length).toBe(1);
  table.done(3);
  // The other job has had nothing yet: its turn, and its workers.
  expect(table.taskOf(3).job).toBe("other");
  expect(table.ordered("spawn")).toBe(1);
});

test("[M3] a job that is cancelled while it waits to be alone holds nobody up", () => {
  const table = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  table.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  table.start(job("first", [tasks(0, splits(1), { sink: COUNT })]), 1);
  const waiting = job("waiting", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]);
  table.start(waiting, 1);
  table.start(job("third", [tasks(0, splits(1), { sink: COUNT })]), 1);
  expect(table.tasksOf(2)).toEqual([]);
  table.program({ type: "cancel", job: waiting.id });
  expect(table.taskOf(2).job).toBe("third");
});

test.each([
  ["little is no company that matters", 80, 1],
  ["much is waited for", 95, 0],
])("[M3] to be alone, a task that has computed for ten seconds and has %s", (_, mib, replaced) => {
  const table = new Oom(2, 8, { pool: POOL, workerMemory: 256 * MIB });
  table.put();
  const learned = { batchSize: 4, atOnce: 1, alone: true, memory: null };
  table.start(job("endless", [tasks(0, splits(1), { sink: COUNT })]), 1);
  table.start(job("waiting", [tasks(0, splits(2), { sink: COUNT, learned, steps: batched(1024) })]), 1);
  table.now += 9_999;
  table.reads({ 1: mib * MIB, 2: 20 * MIB });
  expect(table.ordered("replace")).toBe(0);
  table.now += 1;
  table.reads({ 1: mib * MIB, 2: 20 * MIB });
  expect(table.ordered("replace")).toBe(replaced);
});

test("[M3] an instance of a class leaves a worker that is too small for it", () => {
  const table = new Oom(1, 8, { pool: POOL, workerMemory: 256 * MIB, workerHeap: 192 * MIB });
  table.put();
  const steps = batched(1, "mapBatches", true);
  table.start(counting(3, { steps, concurrency: { min: 1, max: 1 } }), 1);
  table.done(1);
  const refused = { name: "RangeError", message: "Array buffer allocation failed", stack: null, fields: {} };
  table.says(1, { type: "failed", task: table.taskOf(1).id, error: refused });
  expect(table.needs[0]).toMatchObject({ memory: 512 * MIB });
  expect(table.toWorker(1).at(-1)).toMatchObject({ type: "retire" });
  table.says(1, { type: "retired", job: counting(1).id, operator: 0, error: null });
  expect(table.commands.findLast((one) => one.type === "replace")).toMatchObject({ worker: 1, memory: 512 * MIB });
});

test("[D7] memory that a function asks for is reserved before its task starts, and free again after it", () => {
  const table = new Table(4, 8, { resources: { cpu: 4, gpu: 0, memory: 5 * 2 ** 30 } });
  table.start(job("j", [tasks(0, splits(4), { sink: COUNT, request: { cpu: 1, gpu: 0, memory: 2 * 2 ** 30 } })]), 1);
  const used = () => {
    table.program({ type: "resources", request: 1 });
    return table.wasTold("resources").at(-1)?.resources.used.memory;
  };
  expect([1, 2, 3, 4].map((worker) => table.tasksOf(worker).length)).toEqual([1, 1, 0, 0]);
  expect(used()).toBe(4 * 2 ** 30);
  table.done(1);
  expect([1, 2, 3, 4].reduce((sum, worker) => sum + table.tasksOf(worker).length, 0)).toBe(3);
  expect(used()).toBe(4 * 2 ** 30);
  table.dies(2);
  expect(used()).toBeLessThanOrEqual(4 * 2 ** 30);
});

describe("memory that is refused to a task that has all there is", () => {
  const refuses = (table: Oom) => {
    const text = "map(fn) failed on row 3: RangeError: Array buffer allocation failed";
    const error = toWire(new FunctionError(text, "op0", 3, null, [], "RangeError", null));
    table.says(1, { type: "failed", task: table.taskOf(1).id, error });
    table.wakes();
  };
  const begin = (onError: "fail" | "skip", maxOomRetries = 4) => {
    const table = new Oom(1, 8, { pool: POOL, workerMemory: 1024 * MIB });
    table.put();
    table.start(counting(1, { maxOomRetries, steps: batched(1, "map", false, 1, onError) }), 1);
    return table;
  };

  test("[M3] is the row's doing: where onError drops rows, it comes once more and may drop it", () => {
    const table = begin("skip");
    expect(table.taskOf(1).blamesRows).toBeUndefined();
    refuses(table);
    expect(table.taskOf(1)).toMatchObject({ blamesRows: true, attempt: 1 });
    expect(table.notices().at(-1)).toMatch(/without the rows that need more memory than there is \(onError\)\.$/);
    // Its worker was full, not the row too large.
    refuses(table);
    expect(table.error?.name).toBe("OutOfMemoryError");
  });

  test("[M3] ends the job where onError drops nothing, or nothing is to be tried again", () => {
    for (const table of [begin("fail"), begin("skip", 0)]) {
      refuses(table);
      expect(table.error?.name).toBe("OutOfMemoryError");
    }
  });

  test("[M3] is tried with more first, where there is more", () => {
    const table = new Oom(1, 8, { pool: POOL, workerMemory: 256 * MIB });
    table.put();
    table.start(counting(1, { steps: batched(1, "map", false, 1, "skip") }), 1);
    refuses(table);
    expect(table.needs).toMatchObject([{ memory: 512 * MIB }]);
    expect(table.tasksOf(1)).toHaveLength(1);
  });
});
