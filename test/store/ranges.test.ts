import fc from "fast-check";
import { expect, test } from "vitest";
import { PAGE, RangeAllocator, wholePages } from "../../src/store/index.ts";

function allocate(ranges: RangeAllocator, pages: number) {
  const allocation = ranges.allocate(pages * PAGE);
  if (allocation === null) throw new Error("no room");
  return allocation;
}

test("the range freed last is used first", () => {
  const ranges = new RangeAllocator(100 * PAGE, 10 * PAGE);
  const [a, , b] = [allocate(ranges, 2), allocate(ranges, 1), allocate(ranges, 2), allocate(ranges, 1)];
  ranges.free(b.range.offset);
  ranges.free(a.range.offset);
  expect(allocate(ranges, 2).range).toEqual(a.range);
  expect(allocate(ranges, 2).range).toEqual(b.range);
});

test("the best fit is taken before a larger one", () => {
  const ranges = new RangeAllocator(100 * PAGE, 20 * PAGE);
  const [small, , large] = [allocate(ranges, 2), allocate(ranges, 1), allocate(ranges, 6), allocate(ranges, 1)];
  ranges.free(small.range.offset);
  ranges.free(large.range.offset);
  expect(allocate(ranges, 2).range).toEqual(small.range);
  expect(allocate(ranges, 4).range.offset).toBe(large.range.offset);
});

test("neighbours that are free are one range", () => {
  const ranges = new RangeAllocator(100 * PAGE, 10 * PAGE);
  const [a, b, c] = [allocate(ranges, 2), allocate(ranges, 2), allocate(ranges, 2), allocate(ranges, 1)];
  for (const { range } of [a, c, b]) ranges.free(range.offset);
  expect(allocate(ranges, 6)).toEqual({ range: { offset: a.range.offset, length: 6 * PAGE }, punch: [] });
});

test("live and cached together stay within the capacity: the oldest cached range is punched for fresh space", () => {
  const ranges = new RangeAllocator(100 * PAGE, 8 * PAGE);
  const [old, , young] = [allocate(ranges, 2), allocate(ranges, 1), allocate(ranges, 2), allocate(ranges, 1)];
  ranges.free(old.range.offset);
  ranges.free(young.range.offset);
  const { range, punch } = allocate(ranges, 4);
  expect(punch).toEqual([{ offset: old.range.offset, length: 2 * PAGE }]);
  expect(range.offset).toBe(6 * PAGE);
  expect(ranges.live).toBe(6 * PAGE);
  expect(ranges.cached).toBe(2 * PAGE);
  expect(ranges.allocate(3 * PAGE)).toBe(null);
});

test("only as much is punched as is needed", () => {
  const ranges = new RangeAllocator(100 * PAGE, 8 * PAGE);
  const [a] = [allocate(ranges, 6), allocate(ranges, 1)];
  ranges.free(a.range.offset);
  allocate(ranges, 3);
  expect(allocate(ranges, 4).punch).toEqual([{ offset: 3 * PAGE, length: 3 * PAGE }]);
});

test("the tail of a reservation comes back when it is sealed", () => {
  const ranges = new RangeAllocator(100 * PAGE, 8 * PAGE);
  const { range } = allocate(ranges, 6);
  ranges.shrink(range.offset, 100);
  expect(ranges.live).toBe(PAGE);
  expect(ranges.cached).toBe(5 * PAGE);
  expect(() => ranges.shrink(range.offset, 2 * PAGE)).toThrow(/has 4096 bytes, not 8192/);
});

test("fragments never keep out what fits the capacity", () => {
  const ranges = new RangeAllocator(80 * PAGE, 10 * PAGE);
  const all = Array.from({ length: 10 }, () => allocate(ranges, 1));
  for (const [i, { range }] of all.entries()) if (i % 2 === 0) ranges.free(range.offset);
  expect(allocate(ranges, 5).punch.length).toBe(5);
  ranges.assertConsistent();
});

test("freeing twice, or what was never given, is an error", () => {
  const ranges = new RangeAllocator(100 * PAGE, 8 * PAGE);
  const { range } = allocate(ranges, 1);
  ranges.free(range.offset);
  expect(() => ranges.free(range.offset)).toThrow(/No live range begins at 0/);
});

test("whatever is asked and freed, ranges never overlap and figures stay right", () => {
  const action = fc.oneof(
    fc.record({ ask: fc.integer({ min: 1, max: 30 * PAGE }) }),
    fc.record({ free: fc.nat() }),
    fc.record({ shrink: fc.nat(), to: fc.double({ min: 0, max: 1, noNaN: true }) }),
  );
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const ranges = new RangeAllocator(400 * PAGE, 50 * PAGE);
      const live: { offset: number; length: number }[] = [];
      for (const action of actions) {
        if ("ask" in action) {
          const room = ranges.capacity - ranges.live;
          const allocation = ranges.allocate(action.ask);
          expect(allocation !== null).toBe(wholePages(action.ask) <= room);
          if (allocation !== null) live.push({ ...allocation.range });
        } else if (live.length > 0) {
          const at = ("free" in action ? action.free : action.shrink) % live.length;
          const range = live[at];
          if (range === undefined) continue;
          if ("free" in action) {
            live.splice(at, 1);
            ranges.free(range.offset);
          } else {
            range.length = Math.floor(range.length * action.to);
            ranges.shrink(range.offset, range.length);
            range.length = wholePages(range.length);
          }
        }
        ranges.assertConsistent();
        expect(ranges.live).toBe(live.reduce((sum, { length }) => sum + length, 0));
      }
    }),
  );
});

test("ten thousand live ranges cost no more each than a few", () => {
  const ranges = new RangeAllocator(10 ** 6 * PAGE, 10 ** 5 * PAGE);
  const from = process.cpuUsage();
  const offsets = Array.from({ length: 10_000 }, () => allocate(ranges, 2).range.offset);
  for (const [i, offset] of offsets.entries()) if (i % 2 === 0) ranges.free(offset);
  for (let i = 0; i < 5_000; i++) ranges.free(allocate(ranges, 2).range.offset);
  expect(process.cpuUsage(from).user / 1000).toBeLessThan(2_000);
});
