/** The arithmetic of budgets and estimates alone. */
import { expect, test } from "vitest";
import type { BlockId, BlockRef } from "../../src/protocol/index.ts";
import { budgetLeft, bytesOfInput } from "../../src/scheduler/flow/budget.ts";
import { OutputEstimate } from "../../src/scheduler/state/index.ts";

test("[O4] half of the store is reserved evenly, the other half is for whoever comes first", () => {
  const fresh = { usage: 0, block: 10 };
  expect(budgetLeft(fresh, [fresh, fresh], 400)).toBe(100 + 200);
  const greedy = { usage: 250, block: 10 };
  expect(budgetLeft(greedy, [greedy, fresh], 400)).toBe(50);
  expect(budgetLeft(fresh, [greedy, fresh], 400)).toBe(100 + 50);
  const over = { usage: 400, block: 10 };
  expect(budgetLeft(over, [over, fresh], 400)).toBe(0);
  expect(budgetLeft(fresh, [over, fresh], 400)).toBe(100);
});

test("[O4] a reservation holds one block at least, however small the store", () => {
  const wide = { usage: 0, block: 100 };
  expect(budgetLeft(wide, [wide, wide, wide], 120)).toBe(100);
  const busy = { usage: 100, block: 100 };
  expect(budgetLeft(busy, [busy, wide, wide], 120)).toBe(0);
  expect(budgetLeft(wide, [busy, wide, wide], 120)).toBe(100);
});

test("[O4] what a task will hand over is learned: by input byte where the input is known, by task else", () => {
  const estimate = new OutputEstimate();
  expect(estimate.of(null)).toBeNull();
  expect(estimate.of(50)).toBeNull();
  estimate.done({ bytesIn: null, bytesOut: 100 });
  expect(estimate.of(null)).toBe(100);
  expect(estimate.of(50)).toBe(100);
  estimate.done({ bytesIn: 10, bytesOut: 1000 });
  expect(estimate.of(null)).toBe(550);
  expect(estimate.of(50)).toBe(5000);
});

test("[O4] a running task that has handed over more than expected raises the estimate at once; one with less does not", () => {
  const estimate = new OutputEstimate();
  const running = { bytesIn: 10, bytesOut: 0 };
  estimate.began(running);
  expect(estimate.of(10)).toBeNull();
  estimate.done({ bytesIn: 10, bytesOut: 100 });
  running.bytesOut = 20;
  estimate.grew(running, 20);
  expect(estimate.of(10)).toBe(100);
  running.bytesOut = 700;
  estimate.grew(running, 680);
  expect(estimate.of(10)).toBe(400);
  estimate.left(running);
  expect(estimate.of(10)).toBe(100);
});

test("[O4] what running tasks have still to hand over is what is expected of each, less what it has", () => {
  const estimate = new OutputEstimate();
  const [first, second] = [
    { bytesIn: 10, bytesOut: 0 },
    { bytesIn: 30, bytesOut: 0 },
  ];
  estimate.began(first);
  estimate.began(second);
  expect(estimate.rest).toBeNull();
  estimate.done({ bytesIn: 10, bytesOut: 100 });
  expect(estimate.rest).toBe(400);
  second.bytesOut = 150;
  estimate.grew(second, 150);
  expect(estimate.rest).toBe(250);
  estimate.left(second);
  expect(estimate.rest).toBe(100);
  estimate.began({ bytesIn: null, bytesOut: 0 });
  expect(estimate.rest).toBe(200);
});

test("bytes of an input: slices of blocks by their rows, splits of files unknown", () => {
  const block: BlockRef = { id: 1 as BlockId, length: 1000, rows: 10 };
  expect(
    bytesOfInput({
      kind: "blocks",
      slices: [
        { block, start: 0, end: 10 },
        { block, start: 2, end: 4 },
      ],
    }),
  ).toBe(1200);
  expect(bytesOfInput({ kind: "sql", sql: "t", files: [] })).toBeNull();
});
