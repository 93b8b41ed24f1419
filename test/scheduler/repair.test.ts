/** Tasks that make a lost block again, each decision shown alone. */
import { expect, test } from "vitest";
import { jobStats } from "../../src/events/index.ts";
import type { BlockId, JobSpec } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, ScriptedSession, splits } from "./scripted-session.ts";

const DAMAGE = { name: "SpillwayError", message: "a flipped byte", stack: null, fields: {} };

/** The operator has made two blocks and ended; the program has the first, and the second is damaged on disk. */
function withLostBlock(session: ScriptedSession, spec: JobSpec, pages: number): BlockId {
  session.start(spec, 1);
  expect(session.asks(1)).toBe(true);
  session.handsOver(1);
  expect(session.asks(1, 2)).toBe(true);
  session.handsOver(1, 1, 2);
  session.done(1);
  return damageLast(session, spec, pages);
}

/** The block that waits for the program goes to disk, and is damaged when the program wants it. */
function damageLast(session: ScriptedSession, spec: JobSpec, pages: number): BlockId {
  const filler = session.putAfterSpilling(pages - 2);
  const [lost] = session.spilled.slice(-1);
  if (lost === undefined) throw new Error("nothing left memory");
  session.program({ type: "release", blocks: [filler] });
  session.program({ type: "want", job: spec.id, blocks: 1 });
  session.tell({ type: "damaged", block: lost, error: DAMAGE });
  return lost;
}

const source = (name: string, count = 1): JobSpec => job(name, [tasks(0, splits(count), { sink: blocksOf(1) })]);
const cancelsTo = (session: ScriptedSession, worker: number) =>
  session.toWorker(worker).filter(({ type }) => type === "cancel").length;

test("[D5] a damaged block of an operator that has ended is made again by its task", () => {
  const session = new ScriptedSession(1, 12);
  const lost = withLostBlock(session, source("damaged"), 12);
  expect(session.taskOf(1)).toMatchObject({ id: `damaged/0/0~${lost}`, repair: 1 });
  expect(session.asks(1, 2)).toBe(true);
  session.handsOver(1, 1, 2);
  session.done(1);
  expect(session.wasTold("output")).toHaveLength(2);
  expect(session.wasTold("finished")).toHaveLength(1);
  const job = session.state.jobs.get(source("damaged").id);
  const [operator] = job === undefined ? [] : jobStats(session.state, job).operators;
  expect(operator).toMatchObject({ tasks: 1, tasksDone: 1, tasksRunning: 0, blocks: 2, retries: 1 });
});

test("[D5] a task that makes a lost block again and gives its worker up is run later: its job does not fail", () => {
  const session = new ScriptedSession(2, 12, { extraWorkers: 0 });
  withLostBlock(session, source("damaged"), 12);
  session.start(source("other", 2));
  const [repairer, other] = session.tasksOf(1).length === 2 && session.taskOf(1).job === "damaged" ? [1, 2] : [2, 1];
  expect([session.taskOf(repairer).job, session.taskOf(other).job]).toEqual(["damaged", "other"]);
  // Another job's output fills the store, and the program takes its time with both.
  expect(session.asks(other, 10)).toBe(true);
  session.handsOver(other, 1, 10);
  session.program({ type: "want", job: source("other").id, blocks: 1 });
  expect(session.asks(repairer, 2)).toBe(false);
  expect(session.asks(other, 2)).toBe(false);
  session.start(source("third"), 1);
  session.now += 1_000;
  session.tell({ type: "tick" });
  expect(cancelsTo(session, repairer)).toBe(1);
  session.says(repairer, { type: "cancelled", task: session.taskOf(repairer).id });
  expect(session.wasTold("failed")).toEqual([]);
  // The worker goes to the job that waited for it.
  expect(session.taskOf(repairer).job).toBe("third");
  session.done(repairer);
  // The program reads on: the block is made again.
  const [, large] = session.wasTold("output");
  if (large === undefined) throw new Error("the program has nothing");
  session.program({ type: "release", blocks: [large.slice.block.id] });
  expect(session.taskOf(repairer)).toMatchObject({ job: "damaged", repair: 1 });
  expect(session.asks(repairer, 2)).toBe(true);
  session.handsOver(repairer, 1, 2);
  session.done(repairer);
  expect(session.wasTold("finished").map((one) => one.job)).toContain("damaged");
});

test("[D5] a block that was made with broadcast rows is lost for good when these are gone", () => {
  const session = new ScriptedSession(1, 12);
  const broadcast = [{ operators: [0], columns: [] }];
  const spec = job("damaged", [
    tasks(0, splits(1), { sink: blocksOf(1) }),
    tasks(1, splits(1), { sink: blocksOf(1), broadcast }),
  ]);
  session.start(spec, 1);
  expect(session.asks(1)).toBe(true);
  session.handsOver(1);
  session.done(1);
  expect(session.taskOf(1).operator).toBe(1);
  expect(session.asks(1)).toBe(true);
  session.handsOver(1);
  expect(session.asks(1, 2)).toBe(true);
  session.handsOver(1, 1, 2);
  session.done(1);
  damageLast(session, spec, 12);
  expect(session.wasTold("failed").map(({ error }) => error.message)).toEqual(["a flipped byte"]);
});
