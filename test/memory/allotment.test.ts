/** What the processes of a session get when the session has less of the node than planned. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type AllotmentPlan, allot, LEAST_WORKER, leastMemory } from "../../src/memory/index.ts";

const MIB = 2 ** 20;

/** A box of 512 MiB, as a session with default settings plans it on two cores. */
const BOX: AllotmentPlan = {
  memory: 512 * MIB,
  overhead: 96 * MIB,
  worker: 150 * MIB,
  store: 154 * MIB,
  workers: 1,
  cores: 2,
  isStoreGiven: false,
  areWorkersGiven: false,
  limit: 512 * MIB,
  heap: 158 * MIB,
};

test("[M1] with all of the memory, everything is as planned", () => {
  const { store, workers, limit, heap } = BOX;
  expect(allot(BOX, BOX.memory)).toEqual({ memory: BOX.memory, store, workers, limit, heap, block: null });
  expect(allot(BOX, 2 * BOX.memory)).toEqual(allot(BOX, BOX.memory));
});

test("[M1] with half of it, the store, the heap and new blocks are smaller", () => {
  const half = allot(BOX, 256 * MIB);
  expect(half.store).toBe(77 * MIB);
  expect(half.workers).toBe(1);
  expect(half.heap).toBeLessThan(100 * MIB);
  expect(half.limit).toBe(256 * MIB);
  expect(half.block).toBeLessThan(half.store / 4);
});

test("[M1] a large machine keeps its workers when the program takes a little", () => {
  const large = {
    ...BOX,
    memory: 24_000 * MIB,
    store: 7_200 * MIB,
    workers: 2,
    limit: 12_000 * MIB,
    heap: 8_000 * MIB,
  };
  expect(allot(large, 23_000 * MIB)).toMatchObject({ workers: 2, store: 6_900 * MIB });
  expect(allot(large, 2_000 * MIB).workers).toBe(2);
});

test("[M1] a store and a number of workers that the user has set stay while they fit", () => {
  const given = { ...BOX, workers: 2, isStoreGiven: true, areWorkersGiven: true };
  expect(allot(given, 400 * MIB)).toMatchObject({ store: 154 * MIB, workers: 2 });
  expect(allot(given, 300 * MIB)).toMatchObject({ store: 132 * MIB, workers: 1 });
});

test("[M1] limits that the user has set stay", () => {
  expect(allot({ ...BOX, limit: null, heap: null }, 256 * MIB)).toMatchObject({ limit: null, heap: null });
});

test("[M1] less memory never gives more, one worker and the least store always remain, and what is left holds them", () => {
  const bytes = (least: number, most: number) => fc.integer({ min: least, max: most }).map((mib) => mib * MIB);
  const plans = fc.record({
    memory: bytes(256, 65_536),
    store: fc.double({ min: 0.05, max: 0.5, noNaN: true }),
    workers: fc.integer({ min: 1, max: 64 }),
  });
  fc.assert(
    fc.property(
      plans,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (drawn, a, b) => {
        const plan = {
          ...BOX,
          ...drawn,
          store: drawn.memory * drawn.store,
          cores: drawn.workers,
          limit: drawn.memory,
          heap: drawn.memory,
        };
        const [less, more] = [Math.min(a, b), Math.max(a, b)].map((part) => allot(plan, plan.memory * part));
        if (less === undefined || more === undefined) throw new Error("two are drawn");
        expect(less.store).toBeLessThanOrEqual(more.store);
        expect(less.workers).toBeGreaterThanOrEqual(1);
        expect(more.workers).toBeLessThanOrEqual(plan.workers);
        expect(less.store).toBeGreaterThanOrEqual(Math.floor(Math.min(plan.store, plan.memory * 0.05)));
        if (less.memory < leastMemory(plan) || less.memory >= plan.memory) return;
        expect(plan.overhead + less.store + LEAST_WORKER).toBeLessThanOrEqual(less.memory + 1);
      },
    ),
  );
});
