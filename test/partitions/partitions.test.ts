/** How many partitions there are, and which of them one task takes together. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { groupsOf, partitionsFor, targetFor } from "../../src/partitions/index.ts";

const MIB = 2 ** 20;
const store = { capacity: 154 * MIB, scattered: 40 * MIB };
const sizes = { target: 24 * MIB, atLeast: 2 };

test("[D1] a task takes a quarter of its kernel's memory at most, and 128 MiB at most", () => {
  expect([targetFor(96 * MIB), targetFor(4096 * MIB), targetFor(null)]).toEqual([24 * MIB, 128 * MIB, 128 * MIB]);
});

test("[D1] partitions follow from bytes without a fixed limit; unknown bytes give enough for four times the store", () => {
  expect(partitionsFor(2400 * MIB, sizes, store)).toBe(100);
  expect(partitionsFor(1, sizes, store)).toBe(2);
  expect(partitionsFor(null, sizes, store)).toBe(26);
  expect(partitionsFor(null, { target: MIB, atLeast: 2 }, store)).toBe(64);
  const large = { capacity: 2 ** 40, scattered: 2 ** 30 };
  expect(partitionsFor(2 ** 40, { target: 128 * MIB, atLeast: 2 }, large)).toBe(8192);
});

test("[D1] there are no more partitions than a scattering task can hold useful blocks of", () => {
  expect(partitionsFor(2 ** 40, sizes, store)).toBe(640);
});

test("[D1] neighbours are together up to the target; a larger partition is alone; empty ones are left out", () => {
  const bytes = [10, 10, 0, 10, 30, 5, 5, 0, 70, 1].map((size) => size * MIB);
  expect(groupsOf(bytes, sizes)).toEqual([[0, 1], [3], [4], [5, 6], [8], [9]]);
});

test("[D1] few bytes are still for as many tasks as there should be", () => {
  expect(groupsOf(new Array<number>(8).fill(1000), { target: 24 * MIB, atLeast: 4 })).toEqual([
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
  ]);
});

test("[D1] every partition with rows is in one group, in order, and no group of several is above the target", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(100)), fc.integer({ min: 1, max: 150 }), fc.nat(9), (bytes, target, atLeast) => {
      const groups = groupsOf(bytes, { target, atLeast });
      const filled = [...bytes.keys()].filter((i) => (bytes[i] ?? 0) > 0);
      expect(groups.flat()).toEqual(filled);
      for (const group of groups) {
        const size = group.reduce((sum, i) => sum + (bytes[i] ?? 0), 0);
        expect(group.length === 1 || size <= target).toBe(true);
      }
    }),
  );
});
