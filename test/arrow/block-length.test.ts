/** The length of a block is known before its rows are copied, to the byte. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  BlockBuilder,
  columnsToBatch,
  evenSlices,
  nextCut,
  planBlock,
  type RecordBatch,
  RowBuilder,
  sliceBatch,
  toRows,
  type Vector,
} from "../../src/arrow/index.ts";
import { randomTable } from "./random-columns.ts";

function batchOf(rows: readonly unknown[], builder: RowBuilder): RecordBatch {
  for (const row of rows) builder.append(row);
  return builder.finish();
}

const lengthOf = (batch: RecordBatch) => planBlock(batch).byteLength;

describe("[R2] the length of a block before it is made", () => {
  test("is exact for every type, whatever is held already", () => {
    fc.assert(
      fc.property(randomTable(), fc.nat(40), fc.nat(40), ({ declared, rows }, one, other) => {
        const batch = batchOf(rows, new RowBuilder(declared));
        const [from, to] = [Math.min(one, other, rows.length), Math.min(Math.max(one, other), rows.length)];
        const builder = new BlockBuilder();
        builder.append(batch, 0, from);
        expect(builder.blockLength).toBe(lengthOf(sliceBatch(batch, 0, from)));
        expect(builder.blockLengthWith(batch, from, to)).toBe(lengthOf(sliceBatch(batch, 0, to)));
      }),
    );
  });

  test("counts what nulls of no type become when a type turns up", () => {
    const builder = new BlockBuilder();
    builder.append(columnsToBatch({ a: Array(1000).fill(null), b: Array(1000).fill(null) }));
    const typed = columnsToBatch({ a: [1.5], b: [[{ x: "y" }]] });
    const told = builder.blockLengthWith(typed, 0, 1);
    builder.append(typed);
    const whole = builder.finish();
    expect(whole === null ? 0 : lengthOf(whole)).toBe(told);
    expect(told).toBeGreaterThan(12_000);
  });

  test("counts dictionaries as what they stand for", () => {
    const words = columnsToBatch({ w: ["a", "long ".repeat(50), null] }).columns[0] as Vector;
    const index: Vector = {
      type: { kind: "dictionary", index: { kind: "int", bits: 8, signed: true }, value: words.type },
      length: 100,
      nullCount: 0,
      offset: 0,
      buffers: [null, Int8Array.from({ length: 100 }, (_, i) => i % 3)].map((b) => b && new Uint8Array(b.buffer)),
      children: [],
      dictionary: words,
    };
    const batch: RecordBatch = {
      schema: { fields: [{ name: "w", type: index.type, nullable: true }] },
      length: 100,
      columns: [index],
    };
    for (const [from, to] of [
      [0, 100],
      [1, 2],
      [2, 3],
      [3, 60],
    ] as const) {
      expect(new BlockBuilder().blockLengthWith(batch, from, to)).toBe(lengthOf(sliceBatch(batch, from, to)));
    }
  });
});

describe("[R2] cutting", () => {
  test("what is cut is cut evenly: 10.5 of 4 at most are 3 of 3.5", () => {
    const text = "x".repeat(1000);
    const batch = columnsToBatch({ t: Array(10_500).fill(text) });
    const parts = [...evenSlices(batch, 4_000_000 + 64_000)];
    expect(parts.map((part) => part.length)).toEqual([3500, 3500, 3500]);
  });

  test("a row above the target stands alone, those around it are not cut for its sake", () => {
    const sizes = [10, 10, 10, 50_000, 10, 10];
    const batch = columnsToBatch({ t: sizes.map((size) => "x".repeat(size)) });
    expect([...evenSlices(batch, 4096)].map((part) => part.length)).toEqual([3, 1, 2]);
    const held = new BlockBuilder();
    held.append(batch, 0, 3);
    expect(nextCut(held, batch, 3, 4096)).toBe(3);
  });

  test("random rows: all of them, in order, within the target unless alone", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(40), fc.nat(3000)), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 500, max: 8000 }),
        (sizes, target) => {
          const batch = columnsToBatch({ i: sizes.map((_, i) => i), t: sizes.map((size) => "x".repeat(size)) });
          const parts = [...evenSlices(batch, target)];
          expect(parts.flatMap((part) => toRows(part, {}).map((row) => row.i))).toEqual(sizes.map((_, i) => i));
          for (const part of parts) if (part.length > 1) expect(lengthOf(part)).toBeLessThanOrEqual(target);
        },
      ),
    );
  });
});
