/** Rows in any order, of every type. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  blockBytes,
  type RecordBatch,
  RowBuilder,
  readBlock,
  sliceBatch,
  takeBatch,
  toRows,
  type Vector,
} from "../../src/arrow/index.ts";
import { EXACT, randomTable } from "./random-columns.ts";

test("[A13] rows are taken in any order, once, often or not at all, of slices too", () => {
  fc.assert(
    fc.property(randomTable(40), fc.nat(10), fc.array(fc.nat(1000), { maxLength: 80 }), (table, start, wanted) => {
      const builder = new RowBuilder(table.declared);
      for (const row of table.rows) builder.append(row);
      const whole = readBlock(blockBytes(builder.finish()));
      const batch = sliceBatch(whole, start, whole.length);
      const rows = Int32Array.from(batch.length === 0 ? [] : wanted, (row) => row % batch.length);
      const expected = [...rows].map((row) => table.rows[Math.min(start, whole.length) + row]);
      const taken = takeBatch(batch, rows);
      expect(toRows(taken, EXACT)).toEqual(expected);
      expect(toRows(readBlock(blockBytes(taken)), EXACT)).toEqual(expected);
      expect(toRows(takeBatch(taken, Int32Array.from(rows, (_, row) => row).reverse()), EXACT)).toEqual(
        expected.reverse(),
      );
    }),
    { numRuns: 300 },
  );
});

test("[A13] a dictionary is shared by the rows taken", () => {
  const text = { kind: "utf8", large: false } as const;
  const index = { kind: "int", bits: 8, signed: true } as const;
  const words = readBlock(blockBytes(built([{ w: "a" }, { w: "b" }]))).columns[0];
  if (words === undefined) throw new Error("no column");
  const type = { kind: "dictionary", index, value: text } as const;
  const column: Vector = {
    type,
    length: 3,
    nullCount: 1,
    offset: 0,
    buffers: [Uint8Array.of(0b101), Uint8Array.of(0, 0, 1)],
    children: [],
    dictionary: words,
  };
  const batch = { schema: { fields: [{ name: "w", type, nullable: true }] }, length: 3, columns: [column] };
  const taken = takeBatch(batch, Int32Array.of(2, 1, 0, 2));
  expect(toRows(taken, {})).toEqual([{ w: "b" }, { w: null }, { w: "a" }, { w: "b" }]);
  expect(taken.columns[0]?.dictionary).toBe(words);
});

function built(rows: readonly object[]): RecordBatch {
  const builder = new RowBuilder(undefined);
  for (const row of rows) builder.append(row);
  return builder.finish();
}
