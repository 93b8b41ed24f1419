/** What leaves memory and what comes back, each decision of the scheduler shown alone. */
import { expect, test } from "vitest";
import type { BlockId, JobId, WorkerId } from "../../src/protocol/index.ts";
import { PAGE } from "../../src/store/index.ts";
import { job, tasks } from "../simulate/plans.ts";
import { blocksOf, ScriptedSession, sliceOf, splits } from "./scripted-session.ts";

test("[D1] what the program keeps goes to disk, the least recently used first, and the job goes on", () => {
  const session = new ScriptedSession(1, 10);
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(2) })]), 4);
  const kept: BlockId[] = [];
  for (let i = 0; i < 12; i++) {
    if (!session.asks(1, 2)) session.diskWrites();
    session.handsOver(1, 1, 2);
    const id = session.wasTold("output").at(-1)?.slice.block.id;
    if (id === undefined) throw new Error("no output");
    kept.push(id);
    session.program({ type: "keep", blocks: [id] });
    session.program({ type: "want", job: "j" as JobId, blocks: 1 });
    expect(session.scheduler.ledger.live).toBeLessThanOrEqual(10 * PAGE);
  }
  expect(session.spilled).toEqual(kept.slice(0, session.spilled.length));
  expect(session.spilled.length).toBe(7);
  expect(session.scheduler.ledger.totals).toMatchObject({ spilledBytes: 14 * PAGE, spilledBlocks: 7 });
});

test("[D1] a block that was read back is evicted again without being written", () => {
  const session = new ScriptedSession(1, 4);
  const [first, second] = [session.put(2), session.put(2)];
  const third = session.putAfterSpilling(2);
  expect(session.spilled).toEqual([first]);
  const input = { kind: "splits", splits: [{ kind: "blocks", slices: [sliceOf(first, 2)] }] } as const;
  session.start(job("j", [tasks(0, input, { sink: { kind: "count" } })], { holds: [first] }));
  expect(session.spilled).toEqual([first, second]);
  session.diskWrites();
  session.diskReads();
  expect(session.taskOf(1).input).toMatchObject({ kind: "blocks", slices: [{ start: 0, end: 1 }] });
  session.done(1);
  expect(session.wasTold("finished").length).toBe(1);
  // Room for another: the least recently used is the third, which must be written; the first has its file.
  session.program({ type: "release", blocks: [third] });
  session.put(2);
  session.program({ type: "reserve", request: 9, bytes: 2 * PAGE });
  expect(session.spilled).toEqual([first, second]);
  expect(session.scheduler.ledger.stateOf(first)).toBe("spilled");
});

test("[D3] a disk that refuses: nothing is lost, work waits, goes on when it can, and fails with the disk's words when it cannot", () => {
  const session = new ScriptedSession(1, 4);
  const kept = [session.put(2), session.put(2)];
  session.start(job("j", [tasks(0, splits(1), { sink: blocksOf(2) })]), 1);
  session.asks(1, 2);
  session.diskRefuses("no space left");
  expect(session.notices()).toEqual(["Work waits for the disk: no space left"]);
  session.now += 1_000;
  session.tell({ type: "tick" });
  session.diskWrites();
  expect(session.grantsTo(1)).toBe(1);
  expect(kept.map((id) => session.scheduler.ledger.stateOf(id)).sort()).toEqual(["resident", "spilled"]);
  session.handsOver(1, 1, 2);
  session.program({ type: "keep", blocks: session.wasTold("output").map(({ slice: one }) => one.block.id) });
  session.program({ type: "want", job: "j" as JobId, blocks: 1 });
  session.asks(1, 2);
  for (let seconds = 0; seconds < 6; seconds++) {
    session.diskRefuses("no space left");
    session.now += 1_000;
    session.tell({ type: "tick" });
  }
  expect(session.wasTold("failed")[0]?.error.message).toBe("no space left");
});

test("[K3] a worker's own blocks above its target go to disk, those of others stay", () => {
  const session = new ScriptedSession(2, 100, { managedTarget: 4 * PAGE });
  session.start(job("j", [tasks(0, splits(2), { sink: blocksOf(1) })]), 20);
  const keep = () => {
    const id = session.wasTold("output").at(-1)?.slice.block.id;
    if (id === undefined) throw new Error("no output");
    session.program({ type: "keep", blocks: [id] });
  };
  for (let i = 0; i < 4; i++) {
    session.asks(1);
    session.handsOver(1);
    keep();
  }
  session.asks(2);
  session.handsOver(2);
  keep();
  expect(session.spilled).toEqual([]);
  expect(session.scheduler.ledger.managed(1 as WorkerId)).toBe(4 * PAGE);
  session.asks(1);
  session.handsOver(1);
  keep();
  expect(session.spilled).toEqual([1]);
  session.diskWrites();
  expect(session.scheduler.ledger.managed(1 as WorkerId)).toBe(4 * PAGE);
  expect(session.scheduler.ledger.managed(2 as WorkerId)).toBe(PAGE);
});
