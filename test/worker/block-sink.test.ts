import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BlockBuilder,
  columnsToBatch,
  concatBatches,
  planBlock,
  type RecordBatch,
  sliceBatch,
} from "../../src/arrow/index.ts";
import { NondeterministicFunctionError, StoreError } from "../../src/errors/index.ts";
import type { HandedOver } from "../../src/protocol/index.ts";
import { BlockSink } from "../../src/worker/sinks/block-sink.ts";
import { InventedOutlet } from "./invented-outlet.ts";

const KB = 1000;

/** Rows of the given sizes in kilobytes: number `from` and so on. */
function rowsOf(sizes: readonly number[], from = 0): RecordBatch {
  return columnsToBatch({ i: sizes.map((_, at) => from + at), t: sizes.map((size) => "x".repeat(size * KB)) });
}

/** The target that `count` rows of a kilobyte just fit into. */
const roomFor = (count: number) => planBlock(rowsOf(Array(count).fill(1))).byteLength;

interface Shape {
  readonly target: number;
  readonly min?: number | false;
  readonly handedOver?: readonly HandedOver[];
  readonly repair?: number;
  readonly firstRows?: number;
}

function sinkTo(outlet: InventedOutlet, { target, min = 1, handedOver = [], repair, firstRows }: Shape): BlockSink {
  const task = repair === undefined ? { handedOver } : { handedOver, repair };
  return new BlockSink(
    "read->map(f)",
    { kind: "blocks", targetBytes: target, minBytes: min, ...(firstRows === undefined ? {} : { firstRows }) },
    task,
    outlet,
    new BlockBuilder(),
  );
}

async function through(batches: readonly RecordBatch[], shape: Shape, outlet = new InventedOutlet()) {
  const sink = sinkTo(outlet, shape);
  for (const batch of batches) await sink.push(batch);
  await sink.end();
  return outlet;
}

const ones = (count: number): number[] => Array(count).fill(1);

describe("[R2] splitting", () => {
  test("a batch above the target is cut evenly, not into full blocks and a rest", async () => {
    const { rowCounts, lengths } = await through([rowsOf(ones(105))], { target: roomFor(40) });
    expect(rowCounts).toEqual([35, 35, 35]);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(roomFor(40));
  });

  test("the target is of the real bytes: a row more would not have fitted", async () => {
    const target = roomFor(10);
    const full = await through(
      Array.from({ length: 30 }, (_, i) => rowsOf([1], i)),
      { target },
    );
    expect(full.rowCounts).toEqual([10, 10, 10]);
    expect(full.lengths).toEqual([target, target, target]);
    const less = await through(
      Array.from({ length: 30 }, (_, i) => rowsOf([1], i)),
      { target: target - 1 },
    );
    expect(less.rowCounts).toEqual([9, 9, 9, 3]);
  });

  test("rows of uneven size: by bytes, not by number", async () => {
    const sizes = [...ones(30), 10, 10, 10];
    const { rowCounts } = await through([rowsOf(sizes)], { target: roomFor(31) });
    expect(rowCounts).toEqual([30, 3]);
  });

  test("false: a task's rows are one block", async () => {
    const batches = Array.from({ length: 20 }, (_, i) => rowsOf(ones(5), 5 * i));
    // What the option is resolved to: the store's capacity.
    const outlet = await through(batches, { target: 2 ** 30 });
    expect(outlet.rowCounts).toEqual([100]);
  });
});

describe("[A10] below a limit of few rows", () => {
  test("so many rows are a block, then twice as many each time, up to the target, however they come", async () => {
    const shape = { target: roomFor(20), firstRows: 3 };
    const singles = Array.from({ length: 60 }, (_, i) => rowsOf([1], i));
    const one = await through(singles, shape);
    expect(one.rowCounts).toEqual([3, 6, 12, 20, 19]);
    const atOnce = await through([rowsOf(ones(21))], shape);
    expect(atOnce.rowCounts).toEqual([3, 6, 12]);
    expect(atOnce.column("i")).toEqual(Array.from({ length: 21 }, (_, i) => i));
  });

  test("whoever makes rows is asked for so many, and is not told that they are the last", async () => {
    const sink = sinkTo(new InventedOutlet(), { target: roomFor(20), firstRows: 3 });
    expect([sink.wanted, sink.takesEach]).toEqual([3, false]);
    await sink.push(rowsOf(ones(2)));
    expect(sink.wanted).toBe(1);
    await sink.push(rowsOf(ones(1), 2));
    expect([sink.wanted, sink.takesEach]).toEqual([6, false]);
  });
});

describe("[R2] putting together", () => {
  test("batches are put together up to the target, and a task's last block may be small", async () => {
    const batches = Array.from({ length: 9 }, (_, i) => rowsOf(ones(5), 5 * i));
    const outlet = await through(batches, { target: roomFor(21), min: roomFor(4) });
    expect(outlet.rowCounts).toEqual([20, 20, 5]);
    expect(outlet.column("i")).toEqual(Array.from({ length: 45 }, (_, i) => i));
  });

  test("what is below the minimum is put together with rows of a batch that has to be cut for it", async () => {
    const batches = [rowsOf(ones(2)), rowsOf(ones(20), 2)];
    const target = roomFor(20);
    expect((await through(batches, { target, min: roomFor(3) })).rowCounts).toEqual([11, 11]);
    expect((await through(batches, { target, min: roomFor(2) })).rowCounts).toEqual([2, 20]);
  });

  test("a batch that has to be cut anyway fills up what is held", async () => {
    const batches = Array.from({ length: 4 }, (_, i) => rowsOf(ones(12), 12 * i));
    const outlet = await through(batches, { target: roomFor(10), min: roomFor(2) });
    expect(outlet.rowCounts).toEqual([6, 9, 9, 6, 9, 9]);
    expect(outlet.column("i")).toEqual(Array.from({ length: 48 }, (_, i) => i));
  });

  test("false: every batch is a block, and cut only where it is too large", async () => {
    const outlet = await through([rowsOf(ones(1)), rowsOf(ones(2)), rowsOf(ones(12))], {
      target: roomFor(10),
      min: false,
    });
    expect(outlet.rowCounts).toEqual([1, 2, 6, 6]);
  });

  test("nulls of no type that turn out to be numbers do not pass the target unseen", async () => {
    const nulls = columnsToBatch({ v: Array(3000).fill(null) });
    const numbers = columnsToBatch({ v: Array(10).fill(1.5) });
    const outlet = await through([nulls, numbers], { target: 16 * 1024 });
    expect(outlet.rowCounts.reduce((a, b) => a + b)).toBe(3010);
    expect(Math.max(...outlet.lengths)).toBeLessThanOrEqual(16 * 1024);
  });
});

describe("[R3] rows and batches that are too large", () => {
  test("a row above the target gets its own block, and a notice that names operator, bytes and target", async () => {
    const outlet = await through([rowsOf([1, 1, 50, 1]), rowsOf([60, 1], 4)], { target: roomFor(10) });
    expect(outlet.rowCounts).toEqual([2, 1, 1, 1, 1]);
    expect(outlet.column("i")).toEqual([0, 1, 2, 3, 4, 5]);
    const [notice] = outlet.notices;
    expect(notice?.what).toBe("row");
    expect(notice?.text).toMatch(/^read->map\(f\): one row takes 49\.\d KiB, more than the 10\.\d KiB /);
  });

  test("a row above the store's capacity is an error before room is asked for", async () => {
    const outlet = new InventedOutlet(40 * KB);
    const failure = await through([rowsOf([1, 50])], { target: roomFor(10) }, outlet).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(String(failure)).toMatch(
      /read->map\(f\): one row takes 49\.\d KiB \(50\d+ bytes\).*39\.1 KiB \(40000 bytes\)/,
    );
    expect(outlet.rowCounts).toEqual([1]);
    expect(outlet.reserved).toBe(1);
  });

  test("a batch above the target is said to be so, with a batchSize that fits", async () => {
    const outlet = new InventedOutlet();
    const sink = sinkTo(outlet, { target: roomFor(10) });
    sink.maker = { operator: "mapBatches(f)", given: 1000 };
    await sink.push(rowsOf(ones(5)));
    expect(outlet.notices).toEqual([]);
    await sink.push(rowsOf(ones(100)));
    await sink.end();
    expect(outlet.rowCounts.reduce((a, b) => a + b)).toBe(105);
    const [notice] = outlet.notices;
    expect(notice?.what).toBe("batch");
    expect(notice?.text).toMatch(/^mapBatches\(f\): the function returned a batch of 99\.\d KiB for 1000 rows/);
    const suggested = Number(/batchSize: (\d+)/.exec(notice?.text ?? "")?.[1]);
    // 1000 rows made 100 of a kilobyte, of which a block holds 10.
    expect(suggested).toBeGreaterThan(95);
    expect(suggested).toBeLessThanOrEqual(101);
  });
});

describe("random rows", () => {
  const sizes = fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 0, max: 50 }) },
      { weight: 2, arbitrary: fc.integer({ min: 50, max: 1500 }) },
      { weight: 1, arbitrary: fc.integer({ min: 1500, max: 20_000 }) },
    ),
    { maxLength: 120 },
  );
  const task = fc.record({
    batches: fc.array(sizes, { minLength: 1, maxLength: 8 }),
    target: fc.integer({ min: 800, max: 10_000 }),
    part: fc.double({ min: 0, max: 1, noNaN: true }),
  });

  test("[R2] [R3] keep their order, fill no block too much and none too little, and are cut the same again", async () => {
    await fc.assert(
      fc.asyncProperty(task, async ({ batches, target, part }) => {
        // Where padding is half of a block, halves of it say little about the whole.
        const min = Math.floor(target * (target > 4000 ? part : part / 2));
        let next = 0;
        const made = batches.map((list) =>
          columnsToBatch({
            i: list.map(() => next++),
            t: list.map((size) => "x".repeat(size)),
            n: list.map((s) => (s % 3 ? s : null)),
          }),
        );
        const outlet = await through(made, { target, min });
        expect(outlet.column("i")).toEqual(Array.from({ length: next }, (_, i) => i));
        expect(outlet.bytes.map((bytes) => bytes.byteLength)).toEqual(outlet.lengths);
        for (const { rows, length } of outlet.blocks) {
          if (rows > 1) expect(length).toBeLessThanOrEqual(target);
        }
        const { batches: blocks, lengths } = outlet;
        for (let at = 0; at + 2 < blocks.length; at++) {
          const [one, other] = [blocks[at], blocks[at + 1]];
          if (one === undefined || other === undefined) continue;
          if (Math.max(lengths[at] ?? 0, lengths[at + 1] ?? 0) >= min) continue;
          expect(planBlock(concatBatches([one, other])).byteLength).toBeGreaterThan(target);
        }
        // A replay that has everything compares everything, and writes nothing.
        const replay = await through(made, { target, min, handedOver: outlet.blocks });
        expect(replay.reserved).toBe(0);
      }),
      { numRuns: 150 },
    );
  });
});

describe("[D5] replay and repair", () => {
  const batches = Array.from({ length: 12 }, (_, i) => rowsOf(ones(5), 5 * i));
  const shape: Shape = { target: roomFor(15) };

  test("a replay writes what was not handed over", async () => {
    const first = await through(batches, shape);
    expect(first.rowCounts).toEqual([15, 15, 15, 15]);
    const again = await through(batches, { ...shape, handedOver: first.blocks.slice(0, 3) });
    expect(again.blocks).toEqual(first.blocks.slice(3));
  });

  test("a repair hands over its one block, the same as before, and needs no more rows", async () => {
    const first = await through(batches, shape);
    for (const repair of [0, 1, 2, 3]) {
      const outlet = new InventedOutlet();
      const sink = sinkTo(outlet, { ...shape, handedOver: first.blocks, repair });
      let pushed = 0;
      for (const batch of batches) {
        if (sink.satisfied) break;
        pushed++;
        await sink.push(batch);
      }
      await sink.end();
      expect(sink.satisfied).toBe(true);
      expect(outlet.blocks).toEqual([first.blocks[repair]]);
      expect(outlet.reserved).toBe(1);
      // A block is full when the next batch does not fit.
      expect(pushed).toBe(Math.min(12, 3 * (repair + 1) + 1));
    }
  });

  test("rows that come after a repaired block are dropped, also within a batch", async () => {
    const whole = [concatBatches(batches)];
    const first = await through(whole, shape);
    const outlet = await through(whole, { ...shape, handedOver: first.blocks, repair: 1 });
    expect(outlet.blocks).toEqual([first.blocks[1]]);
  });

  test("a repair that makes other rows fails, for this block or one before it", async () => {
    const first = await through(batches, shape);
    const others = [rowsOf(ones(5), 1000), ...batches.slice(1)];
    for (const repair of [0, 1]) {
      const outlet = new InventedOutlet();
      const failure = await through(others, { ...shape, handedOver: first.blocks, repair }, outlet).catch(
        (error: unknown) => error,
      );
      expect(failure).toBeInstanceOf(NondeterministicFunctionError);
      expect(String(failure)).toContain("a block of it was damaged");
      expect(outlet.blocks).toEqual([]);
    }
    const fewer = through(batches.slice(0, 2), { ...shape, handedOver: first.blocks, repair: 3 });
    await expect(fewer).rejects.toThrow(NondeterministicFunctionError);
  });
});

test("[R2] a slice of a batch is cut like the rows it is", async () => {
  const whole = rowsOf(ones(105));
  const outlet = await through([sliceBatch(whole, 20, 60)], { target: roomFor(15) });
  expect(outlet.rowCounts).toEqual([14, 13, 13]);
  expect(outlet.column("i")).toEqual(Array.from({ length: 40 }, (_, i) => 20 + i));
});
