/** Who answers for which blocks, with real workers. */
import { expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("rebalance");

class Same {
  call(batch: { id: Float64Array }) {
    return batch;
  }
}

test("[K15] session.rebalance() evens out what one worker has made, says what moved, and changes no row", async () => {
  const s = sessions.open({ workers: 2 });
  const events: number[] = [];
  s.onEvent((event) => {
    if (event.type === "rebalanced") events.push(event.blocks);
  });
  // One instance: all blocks are of one worker.
  const kept = await s.range(2000, { overrideNumBlocks: 8 }).mapBatches(Same, { concurrency: 1 }).materialize();
  const { blocks, bytes, moves } = await s.rebalance();
  expect(blocks).toBe(moves.length);
  expect(blocks).toBeGreaterThan(0);
  expect(bytes).toBe(moves.reduce((sum, move) => sum + move.bytes, 0));
  const [first] = moves;
  expect(moves.every(({ from, to }) => from === first?.from && to === first.to && to !== from)).toBe(true);
  const again = await s.rebalance();
  expect(again).toEqual({ blocks: 0, bytes: 0, moves: [] });
  expect(events).toEqual([blocks, 0]);
  expect(await kept.count()).toBe(2000);
  const rows = await kept.takeAll();
  expect(rows.map(({ id }) => id).sort((a, b) => a - b)).toEqual(Array.from({ length: 2000 }, (_, i) => i));
  await s.close();
});
