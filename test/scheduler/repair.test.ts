/** Tasks that make a lost block again, each decision shown alone. */
import { expect, test } from "vitest";
import type { BlockId, JobSpec } from "../../src/protocol/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, splits, Table } from "./table.ts";

const DAMAGE = { name: "SpillwayError", message: "a flipped byte", stack: null, fields: {} };

/** The operator has made two blocks and ended; the program has the first, and the second is damaged on disk. */
function withLostBlock(table: Table, spec: JobSpec, pages: number): BlockId {
  table.start(spec, 1);
  expect(table.asks(1)).toBe(true);
  table.handsOver(1);
  expect(table.asks(1, 2)).toBe(true);
  table.handsOver(1, 1, 2);
  table.done(1);
  return damageLast(table, spec, pages);
}

/** The block that waits for the program goes to disk, and is damaged when the program wants it. */
function damageLast(table: Table, spec: JobSpec, pages: number): BlockId {
  const filler = table.putAfterSpilling(pages - 2);
  const [lost] = table.spilled.slice(-1);
  if (lost === undefined) throw new Error("nothing left memory");
  table.program({ type: "release", blocks: [filler] });
  table.program({ type: "want", job: spec.id, blocks: 1 });
  table.tell({ type: "damaged", block: lost, error: DAMAGE });
  return lost;
}

const source = (name: string, count = 1): JobSpec => job(name, [tasks(0, splits(count), { sink: blocksOf(1) })]);
const cancelsTo = (table: Table, worker: number) =>
  table.toWorker(worker).filter(({ type }) => type === "cancel").length;

test("[D5] a damaged block of an operator that has ended is made again by its task", () => {
  const table = new Table(1, 12);
  const lost = withLostBlock(table, source("damaged"), 12);
  expect(table.taskOf(1)).toMatchObject({ id: `damaged/0/0~${lost}`, repair: 1 });
  expect(table.asks(1, 2)).toBe(true);
  table.handsOver(1, 1, 2);
  table.done(1);
  expect(table.wasTold("output")).toHaveLength(2);
  expect(table.wasTold("finished")).toHaveLength(1);
});

test("[D5] a task that makes a lost block again and gives its worker up is run later: its job does not fail", () => {
  const table = new Table(2, 12, { extraWorkers: 0 });
  withLostBlock(table, source("damaged"), 12);
  table.start(source("other", 2));
  const [repairer, other] = table.tasksOf(1).length === 2 && table.taskOf(1).job === "damaged" ? [1, 2] : [2, 1];
  expect([table.taskOf(repairer).job, table.taskOf(other).job]).toEqual(["damaged", "other"]);
  // Another job's output fills the store, and the program takes its time with both.
  expect(table.asks(other, 10)).toBe(true);
  table.handsOver(other, 1, 10);
  table.program({ type: "want", job: source("other").id, blocks: 1 });
  expect(table.asks(repairer, 2)).toBe(false);
  expect(table.asks(other, 2)).toBe(false);
  table.start(source("third"), 1);
  table.now += 1_000;
  table.tell({ type: "tick" });
  expect(cancelsTo(table, repairer)).toBe(1);
  table.says(repairer, { type: "cancelled", task: table.taskOf(repairer).id });
  expect(table.wasTold("failed")).toEqual([]);
  // The worker goes to the job that waited for it.
  expect(table.taskOf(repairer).job).toBe("third");
  table.done(repairer);
  // The program reads on: the block is made again.
  const [, large] = table.wasTold("output");
  if (large === undefined) throw new Error("the program has nothing");
  table.program({ type: "release", blocks: [large.slice.block.id] });
  expect(table.taskOf(repairer)).toMatchObject({ job: "damaged", repair: 1 });
  expect(table.asks(repairer, 2)).toBe(true);
  table.handsOver(repairer, 1, 2);
  table.done(repairer);
  expect(table.wasTold("finished").map((one) => one.job)).toContain("damaged");
});

test("[D5] a block that was made with broadcast rows is lost for good when these are gone", () => {
  const table = new Table(1, 12);
  const broadcast = [{ operators: [0], columns: [] }];
  const spec = job("damaged", [
    tasks(0, splits(1), { sink: blocksOf(1) }),
    tasks(1, splits(1), { sink: blocksOf(1), broadcast }),
  ]);
  table.start(spec, 1);
  expect(table.asks(1)).toBe(true);
  table.handsOver(1);
  table.done(1);
  expect(table.taskOf(1).operator).toBe(1);
  expect(table.asks(1)).toBe(true);
  table.handsOver(1);
  expect(table.asks(1, 2)).toBe(true);
  table.handsOver(1, 1, 2);
  table.done(1);
  damageLast(table, spec, 12);
  expect(table.wasTold("failed").map(({ error }) => error.message)).toEqual(["a flipped byte"]);
});
