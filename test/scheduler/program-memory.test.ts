/** What the program itself holds is taken off what the session may have, before the system has to choose. */
import { expect, test } from "vitest";
import { fixedShares } from "../../src/memory/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { MEMORY } from "../support/memory-settings.ts";
import { MIB, ScriptedSession, splits } from "./scripted-session.ts";

const NODE = 1000 * MIB;
const PLANNED = fixedShares.program;

/** Two workers, started or not; the store may have 300 of 1000 MiB. */
function session(workers = 2): ScriptedSession {
  const { overhead, worker } = fixedShares;
  return new ScriptedSession(workers, (300 * MIB) / PAGE, {
    workers: 2,
    memory: MEMORY,
    pool: { memory: NODE, overhead, worker, threads: 2 },
    automaticLimits: true,
    workerMemory: 500 * MIB,
    workerHeap: 200 * MIB,
    resources: { cpu: 2, gpu: 0, memory: NODE },
  });
}

const NOTHING = { private: 0, shared: 0, children: 0 };

function programHas(one: ScriptedSession, bytes: number): void {
  one.tell({ type: "memory", workers: [], supervisor: NOTHING, program: { ...NOTHING, private: bytes }, used: null });
}

function asks(one: ScriptedSession, bytes: number, used: number): void {
  one.tell({ type: "programHolds", request: 7, bytes, node: { used, total: NODE } });
}

const answers = (one: ScriptedSession) =>
  one.commands.flatMap((command) =>
    command.type === "toProgram" && command.message.type === "roomMade" ? [command.message] : [],
  );

test("[M1] what the program holds beyond its plan is taken off the store, workers and their limits", () => {
  const one = session();
  programHas(one, PLANNED);
  expect(one.scheduler.ledger.inForce).toBe(300 * MIB);
  programHas(one, PLANNED + 500 * MIB);
  expect(one.scheduler.ledger.inForce).toBe(150 * MIB);
  expect(one.happened("nodeShare")).toEqual([
    {
      type: "nodeShare",
      memory: 500 * MIB,
      of: NODE,
      sessions: 1,
      program: 500 * MIB,
      store: 150 * MIB,
      workers: 1,
    },
  ]);
  // One of the two idle workers ends, and no other takes its place.
  expect(one.commands.filter(({ type }) => type === "dismiss").length).toBe(1);
  const limits = one.commands.flatMap((command) => (command.type === "workerLimits" ? [command] : []));
  expect(limits).toEqual([{ type: "workerLimits", limit: 500 * MIB, heap: expect.any(Number) }]);
  expect(limits[0]?.heap).toBeLessThan(200 * MIB);
  programHas(one, PLANNED);
  expect(one.scheduler.ledger.inForce).toBe(300 * MIB);
});

test("[M1] new tasks make smaller blocks while the program holds much, and a task that has handed over blocks does not", () => {
  const one = session();
  programHas(one, PLANNED + 500 * MIB);
  const sink = { kind: "blocks", targetBytes: 128 * MIB, minBytes: MIB } as const;
  one.start(job("j", [tasks(0, splits(2), { sink })]));
  const orders = one.commands.flatMap((command) =>
    command.type === "toWorker" && command.message.type === "run" ? [command.message.task] : [],
  );
  expect(orders[0]?.blockBytes).toBeLessThan(30 * MIB);
});

test("[M1] a program that grows goes on at once while there is memory", () => {
  const one = session();
  asks(one, 100 * MIB, 500 * MIB);
  expect(answers(one)).toEqual([{ type: "roomMade", request: 7, until: 212.5 * MIB }]);
});

test("[M1] where memory is short, the program waits until kept blocks are on disk", () => {
  const one = session();
  const block = one.put((40 * MIB) / PAGE);
  asks(one, 400 * MIB, 940 * MIB);
  expect(answers(one)).toEqual([]);
  expect(one.scheduler.isProgramWaiting).toBe(true);
  expect(one.spilled).toEqual([block]);
  one.diskWrites();
  one.nodeUses(890);
  expect(answers(one).length).toBe(1);
  expect(one.scheduler.isProgramWaiting).toBe(false);
});

test("[M1] it does not wait where nothing can be given", () => {
  const one = session();
  asks(one, 400 * MIB, 940 * MIB);
  expect(answers(one).length).toBe(1);
});

test("[M1] a program that leaves too little for any work ends its jobs with the figures, after its garbage was collected", () => {
  const one = session(0);
  one.hasNoGarbage = false;
  one.start(job("j", [tasks(0, splits(2), { sink: { kind: "count" } })]));
  one.nodeUses(940);
  programHas(one, PLANNED + 850 * MIB);
  expect(one.wasTold("collect").length).toBe(1);
  one.now += 5_000;
  programHas(one, PLANNED + 850 * MIB);
  expect(one.wasTold("failed")).toEqual([]);
  one.program({ type: "collected", took: 1 });
  programHas(one, PLANNED + 850 * MIB);
  const [failed] = one.wasTold("failed");
  expect(failed?.error).toMatchObject({ name: "OutOfMemoryError" });
  expect(failed?.error.message).toContain("The program itself holds 914 MiB of the node's 1000 MiB");
});
