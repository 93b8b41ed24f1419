/** What leaves memory and what comes back, each decision of the scheduler shown alone. */
import { expect, test } from "vitest";
import type { BlockId, JobId, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, sliceOf, splits, Table } from "./table.ts";

test("[D1] what the program keeps goes to disk, the least recently used first, and the job goes on", () => {
  const table = new Table(1, 10);
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(2) })]), 4);
  const kept: BlockId[] = [];
  for (let i = 0; i < 12; i++) {
    if (!table.asks(1, 2)) table.diskWrites();
    table.handsOver(1, 1, 2);
    const id = table.wasTold("output").at(-1)?.slice.block.id;
    if (id === undefined) throw new Error("no output");
    kept.push(id);
    table.program({ type: "keep", blocks: [id] });
    table.program({ type: "want", job: "j" as JobId, blocks: 1 });
    expect(table.scheduler.ledger.live).toBeLessThanOrEqual(10 * PAGE);
  }
  expect(table.spilled).toEqual(kept.slice(0, table.spilled.length));
  expect(table.spilled.length).toBe(7);
  expect(table.scheduler.ledger.totals).toMatchObject({ spilledBytes: 14 * PAGE, spilledBlocks: 7 });
});

test("[D1] a block that was read back is evicted again without being written", () => {
  const table = new Table(1, 4);
  const [first, second] = [table.put(2), table.put(2)];
  const third = table.putAfterSpilling(2);
  expect(table.spilled).toEqual([first]);
  const input = { kind: "splits", splits: [{ kind: "blocks", slices: [sliceOf(first, 2)] }] } as const;
  table.start(job("j", [tasks(0, input, { sink: { kind: "count" } })], { holds: [first] }));
  expect(table.spilled).toEqual([first, second]);
  table.diskWrites();
  table.diskReads();
  expect(table.taskOf(1).input).toMatchObject({ kind: "blocks", slices: [{ start: 0, end: 1 }] });
  table.done(1);
  expect(table.wasTold("finished").length).toBe(1);
  // Room for another: the least recently used is the third, which must be written; the first has its file.
  table.program({ type: "release", blocks: [third] });
  table.put(2);
  table.program({ type: "reserve", request: 9, bytes: 2 * PAGE });
  expect(table.spilled).toEqual([first, second]);
  expect(table.scheduler.ledger.stateOf(first)).toBe("spilled");
});

test("[D3] a disk that refuses: nothing is lost, work waits, goes on when it can, and fails with the disk's words when it cannot", () => {
  const table = new Table(1, 4);
  const kept = [table.put(2), table.put(2)];
  table.start(job("j", [tasks(0, splits(1), { sink: blocksOf(2) })]), 1);
  table.asks(1, 2);
  table.diskRefuses("no space left");
  expect(table.notices()).toEqual(["Work waits for the disk: no space left"]);
  table.now += 1_000;
  table.tell({ type: "tick" });
  table.diskWrites();
  expect(table.grantsTo(1)).toBe(1);
  expect(kept.map((id) => table.scheduler.ledger.stateOf(id)).sort()).toEqual(["resident", "spilled"]);
  table.handsOver(1, 1, 2);
  table.program({ type: "keep", blocks: table.wasTold("output").map(({ slice: one }) => one.block.id) });
  table.program({ type: "want", job: "j" as JobId, blocks: 1 });
  table.asks(1, 2);
  for (let seconds = 0; seconds < 6; seconds++) {
    table.diskRefuses("no space left");
    table.now += 1_000;
    table.tell({ type: "tick" });
  }
  expect(table.wasTold("failed")[0]?.error.message).toBe("no space left");
});

test("[K3] a worker's own blocks above its target go to disk, those of others stay", () => {
  const table = new Table(2, 100, { managedTarget: 4 * PAGE });
  table.start(job("j", [tasks(0, splits(2), { sink: blocksOf(1) })]), 20);
  const keep = () => {
    const id = table.wasTold("output").at(-1)?.slice.block.id;
    if (id === undefined) throw new Error("no output");
    table.program({ type: "keep", blocks: [id] });
  };
  for (let i = 0; i < 4; i++) {
    table.asks(1);
    table.handsOver(1);
    keep();
  }
  table.asks(2);
  table.handsOver(2);
  keep();
  expect(table.spilled).toEqual([]);
  expect(table.scheduler.ledger.managed(1 as WorkerId)).toBe(4 * PAGE);
  table.asks(1);
  table.handsOver(1);
  keep();
  expect(table.spilled).toEqual([1]);
  table.diskWrites();
  expect(table.scheduler.ledger.managed(1 as WorkerId)).toBe(4 * PAGE);
  expect(table.scheduler.ledger.managed(2 as WorkerId)).toBe(PAGE);
});
