/** What tasks take is learned from the first batch on, and decides how many start. */
import { describe, expect, test } from "vitest";
import type { WorkerId } from "../../src/protocol/index.ts";
import type { SchedulerOptions } from "../../src/scheduler/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { taskReport } from "../support/figures.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { MIB, ScriptedSession, splits } from "./scripted-session.ts";

const COUNT = { kind: "count" } as const;
const NOBODY = { private: 0, shared: 0, children: 0 };

/** Four workers of 500 MiB on a node of 1000 MiB, of which others have 100. */
class Session extends ScriptedSession {
  constructor(more: Partial<SchedulerOptions> = {}) {
    super(4, 100, { memory: MEMORY, workerMemory: 500 * MIB, ...more });
    this.put();
    this.measured(50, 50, 50, 50);
  }

  /** Workers are measured, and the node with them, in MiB. */
  measured(...workers: number[]): void {
    const readings = workers.map((bytes, i) => ({ worker: (i + 1) as WorkerId, ...NOBODY, private: bytes * MIB }));
    const used = (100 + workers.reduce((sum, one) => sum + one, 0)) * MIB;
    this.tell({ type: "memory", workers: readings, supervisor: NOBODY, program: NOBODY, used });
    this.tell({ type: "nodeMemory", used, total: 1000 * MIB });
  }

  begin(count = 20, more: Parameters<typeof tasks>[2] = {}): void {
    this.start(job("j", [tasks(0, splits(count), { isClass: false, sink: COUNT, ...more })]));
  }

  tells(worker: number, added: number): void {
    const { id } = this.taskOf(worker);
    const [peakMemory, addedMemory] = [(50 + added) * MIB, added * MIB];
    this.says(worker, { type: "firstBatch", task: id, peakMemory, addedMemory });
  }

  /** The task ends; it took so much, and leaves some of it. */
  took(worker: number, added: number, left = 0, before = 50): void {
    const report = taskReport({ peakMemory: (before + added) * MIB, addedMemory: added * MIB });
    const { id } = this.taskOf(worker);
    this.says(worker, { type: "done", task: id, report, heap: { used: 0, limit: MIB }, left: (50 + left) * MIB });
  }

  passes(milliseconds: number): void {
    this.now += milliseconds;
    this.tell({ type: "tick" });
  }

  get busy(): number[] {
    return [...this.state.workers.values()].flatMap(({ id, phase }) => (phase === "busy" ? [id] : []));
  }

  get operator() {
    return this.state.jobs.get("j" as never)?.operators[0];
  }
}

describe("[M11] memory that nobody declared", () => {
  test("the others wait for the first batch of the first task, and then as many start as fit", () => {
    const session = new Session();
    session.begin();
    expect(session.busy).toHaveLength(1);
    expect(session.operator?.heldBy).toBe("FirstBatchBackpressurePolicy");
    expect(session.taskOf(1).tellsBatch).toBe(true);
    // 300 are in use; of 900 there is room for two of 200 and a quarter.
    session.tells(1, 200);
    expect(session.busy).toHaveLength(2);
    expect(session.operator?.heldBy).toBe("TaskMemoryBackpressurePolicy");
    expect(session.operator?.appetite).toEqual({ bytes: 250 * MIB, from: "batch" });
  });

  test("a small first batch lets all of them start at once", () => {
    const session = new Session();
    session.begin();
    session.tells(1, 5);
    expect(session.busy).toHaveLength(4);
    expect([2, 3, 4].map((worker) => session.taskOf(worker).tellsBatch)).toEqual([undefined, undefined, undefined]);
  });

  test("where the first batch is slow, more start step by step; what a task has by then may be half of what it takes", () => {
    const session = new Session();
    session.begin();
    session.passes(199);
    expect(session.busy).toHaveLength(1);
    session.measured(140, 50, 50, 50);
    session.passes(1);
    expect(session.operator?.appetite).toEqual({ bytes: 180 * MIB, from: "batch" });
    // It has taken much, and is waited for; but not for ever.
    expect(session.busy).toHaveLength(1);
    for (let i = 0; i < 8; i++) session.passes(200);
    expect(session.busy).toHaveLength(1);
    session.passes(200);
    expect(session.busy).toHaveLength(2);
    session.tells(1, 400);
    expect(session.operator?.appetite?.bytes).toBe(500 * MIB);
    const idle = new Session();
    idle.begin();
    expect(idle.scheduler.alarmAt).toBe(200);
    idle.passes(200);
    expect(idle.busy).toHaveLength(2);
    expect(idle.scheduler.alarmAt).toBe(400);
    idle.passes(200);
    expect(idle.busy).toHaveLength(4);
  });

  test("nobody waits where all workers fit whatever they do, nor for a function whose memory was declared", () => {
    const small = new Session({ workerMemory: 150 * MIB });
    small.begin();
    expect(small.busy).toHaveLength(4);
    const declared = new Session({ resources: { cpu: 4, gpu: 0, memory: 400 * MIB } });
    declared.begin(20, { request: { cpu: 1, gpu: 0, memory: 100 * MIB } });
    expect(declared.busy).toHaveLength(4);
    const known = new Session();
    known.begin(20, { appetite: 250 * MIB });
    expect(known.busy).toHaveLength(2);
  });

  test("an operator without functions has nothing to learn", () => {
    const session = new Session();
    session.start(job("j", [tasks(0, splits(20), { sink: COUNT })]));
    expect(session.busy).toHaveLength(4);
    session.took(1, 300);
    expect(session.operator?.appetite).toBeNull();
  });

  test("each task that ends corrects it, upwards at once, and downwards when large ones are long gone", () => {
    const session = new Session();
    session.begin(60);
    session.tells(1, 100);
    session.took(1, 300);
    expect(session.operator?.appetite).toEqual({ bytes: Math.ceil(300 * 1.1 * MIB), from: "tasks" });
    for (let i = 0; i < 16; i++) session.took(session.busy[0] ?? 0, 10);
    expect(session.operator?.appetite).toEqual({ bytes: Math.ceil(10 * 1.1 * MIB), from: "tasks" });
    expect(session.busy).toHaveLength(4);
  });

  test("what an operator's tasks have left in a worker is used again by the next; the worker is preferred", () => {
    const session = new Session();
    session.begin();
    session.tells(1, 300);
    expect(session.busy).toEqual([1]);
    session.took(1, 300, 290);
    session.measured(340, 50, 50, 50);
    expect(session.tasksOf(1)).toHaveLength(2);
    session.took(1, 0, 290, 350);
    // It had all that it takes from the first one.
    expect(session.operator?.appetite?.bytes).toBe(Math.ceil(300 * 1.1 * MIB));
  });

  test("a worker gives back what tasks have left in it before a task that would not fit beside it starts", () => {
    const session = new Session();
    const [first, second] = [0, 1].map((id) => tasks(id, splits(id === 0 ? 1 : 4), { isClass: false, sink: COUNT }));
    if (first === undefined || second === undefined) throw new Error("two operators");
    session.start(job("a", [first]));
    session.took(1, 300, 290);
    session.measured(340, 50, 50, 50);
    session.start(job("j", [{ ...second, id: 0, appetite: 350 * MIB }]));
    expect(session.busy).toEqual([]);
    expect(session.toWorker(1).at(-1)).toEqual({ type: "trim", request: null });
    const report = { worker: 1 as WorkerId, before: 340 * MIB, after: 60 * MIB, skipped: [] };
    session.says(1, { type: "trimmed", request: null, report, heap: { used: 0, limit: MIB } });
    expect(session.busy).toHaveLength(1);
    expect(session.happened("recycled")).toEqual([]);
  });

  test("a task always starts if no other one computes, and an endless one keeps nobody waiting", () => {
    const session = new Session();
    session.begin(20, { appetite: 5000 * MIB });
    expect(session.busy).toHaveLength(1);
    session.measured(300, 50, 50, 50);
    session.now += 10_000;
    session.measured(300, 50, 50, 50);
    expect(session.busy).toHaveLength(2);
  });

  test("after it ran out of memory, a task with less at once shows anew what it takes", () => {
    const session = new Session();
    session.begin(20, { appetite: 100 * MIB });
    session.dies(1, { cause: "cgroupOom" });
    expect(session.operator?.learned).not.toBeNull();
    session.took(2, 20);
    expect(session.operator?.appetite?.bytes).toBe(25 * MIB);
  });

  test("a task may take what the others leave: more is refused inside its worker", () => {
    const session = new Session();
    session.begin(20, { appetite: 100 * MIB });
    const most = [1, 2, 3, 4].map((worker) => session.taskOf(worker).mostMemory ?? Number.POSITIVE_INFINITY);
    // The first one runs alone. Of 900 the node has 300 in use; each of the others may take 100, the task what is left.
    expect(most[0]).toBe(Number.POSITIVE_INFINITY);
    for (const running of [2, 3]) {
      const left = (900 - 300 - running * 100 + 50) * MIB;
      expect(Math.abs((most[running] ?? 0) - left)).toBeLessThan(MIB);
    }
    // What is expected of it, and a little more, it may have in any case.
    const full = new Session();
    full.begin(20, { appetite: 290 * MIB });
    expect(full.busy).toHaveLength(2);
    expect(full.taskOf(2).mostMemory).toBe((50 + 290 + 64) * MIB);
  });
});
