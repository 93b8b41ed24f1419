import { tableFromIPC, tableToIPC } from "@uwdata/flechette";
import * as apache from "apache-arrow";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  arrowFileWriter,
  BlockBuilder,
  blockBytes,
  ColumnAssembler,
  columnsToBatch,
  concatBatches,
  fromArrowTable,
  planBlock,
  type RecordBatch,
  type Row,
  RowBuilder,
  readArrowBytes,
  readBlock,
  sliceBatch,
  toColumns,
  toFlechette,
  toRows,
} from "../../src/arrow/index.ts";
import { contains, EXACT, type RandomTable, randomTable } from "./random-columns.ts";

function built(table: RandomTable): RecordBatch {
  const builder = new RowBuilder(table.declared);
  for (const row of table.rows) builder.append(row);
  return builder.finish();
}

/** A batch that shares no memory with a builder. */
function owned(table: RandomTable): RecordBatch {
  return readBlock(blockBytes(built(table)));
}

function rowsOf(batches: readonly RecordBatch[]): Row[] {
  return batches.flatMap((batch) => toRows(batch, EXACT));
}

test("[A13] rows to batch to block to rows: what went in comes out, for every type, with nulls", () => {
  fc.assert(
    fc.property(randomTable(), (table) => {
      expect(toRows(owned(table), EXACT)).toEqual(table.rows);
    }),
    { numRuns: 300 },
  );
});

test("[A13] slices of slices, written as blocks, hold just their rows", () => {
  fc.assert(
    fc.property(randomTable(60), fc.nat(60), fc.nat(60), fc.nat(20), (table, first, second, third) => {
      const [start, end] = [Math.min(first, second), Math.max(first, second)];
      const slice = sliceBatch(owned(table), start, end);
      const inner = sliceBatch(slice, third, slice.length);
      const expected = table.rows.slice(start, end).slice(third);
      expect(toRows(inner, EXACT)).toEqual(expected);
      const block = readBlock(blockBytes(inner));
      expect(toRows(block, EXACT)).toEqual(expected);
      expect(toRows(sliceBatch(block, 1, block.length), EXACT)).toEqual(expected.slice(1));
    }),
    { numRuns: 200 },
  );
});

test("[A13] a block builder joins pieces of batches, shifted in every way", () => {
  fc.assert(
    fc.property(randomTable(50), fc.array(fc.tuple(fc.nat(50), fc.nat(50)), { maxLength: 8 }), (table, cuts) => {
      const batch = owned(table);
      const builder = new BlockBuilder();
      for (let round = 0; round < 2; round++) {
        const expected: Row[] = [];
        builder.append(batch, 0, 0);
        for (const [one, other] of cuts) {
          const start = Math.min(one, other, batch.length);
          const end = Math.min(Math.max(one, other), batch.length);
          builder.append(sliceBatch(batch, start, batch.length), 0, end - start);
          expected.push(...table.rows.slice(start, end));
        }
        expect(builder.rows).toBe(expected.length);
        const whole = builder.finish();
        if (whole === null) throw new Error("nothing was built");
        expect(toRows(whole, EXACT)).toEqual(expected);
        expect(toRows(readBlock(blockBytes(whole)), EXACT)).toEqual(expected);
      }
    }),
    { numRuns: 200 },
  );
});

test("[A13] equal rows give equal bytes, however they were cut and joined", () => {
  fc.assert(
    fc.property(randomTable(40), fc.nat(40), (table, cut) => {
      const batch = owned(table);
      const at = Math.min(cut, batch.length);
      const joined = concatBatches([sliceBatch(batch, 0, at), sliceBatch(batch, at, batch.length)]);
      expect(blockBytes(joined)).toEqual(blockBytes(batch));
    }),
    { numRuns: 200 },
  );
});

test("[A2] a column assembler gives every row once, in batches of the asked size", () => {
  fc.assert(
    fc.property(
      randomTable(50),
      fc.integer({ min: 1, max: 17 }),
      fc.integer({ min: 1, max: 60 }),
      (table, size, step) => {
        const batch = owned(table);
        const assembler = new ColumnAssembler(batch.schema, EXACT, size);
        const seen: Row[] = [];
        const take = (columns: ReturnType<ColumnAssembler["next"]>, full: boolean): void => {
          if (columns === null) return;
          const arrays = Object.entries(columns);
          const length = arrays[0]?.[1].length ?? 0;
          if (full) expect(length).toBe(size);
          for (let row = 0; row < length; row++) {
            seen.push(Object.fromEntries(arrays.map(([name, values]) => [name, values[row]])));
          }
        };
        for (let start = 0; start < batch.length; start += step) {
          assembler.push(sliceBatch(batch, start, start + step));
          for (let next = assembler.next(); next !== null; next = assembler.next()) take(next, true);
        }
        take(assembler.flush(), false);
        expect(seen).toEqual(table.rows);
      },
    ),
    { numRuns: 200 },
  );
});

test("[A13] columns out and in again are the same rows", () => {
  fc.assert(
    fc.property(randomTable(30), (table) => {
      const batch = owned(table);
      const again = columnsToBatch(toColumns(batch, EXACT), table.declared);
      expect(toRows(again, EXACT)).toEqual(table.rows);
    }),
    { numRuns: 200 },
  );
});

test("[R1] flechette reads blocks and writes them back", () => {
  fc.assert(
    fc.property(randomTable(20), (table) => {
      const bytes = tableToIPC(tableFromIPC(blockBytes(built(table))), { format: "stream" });
      if (bytes === null) throw new Error("no bytes");
      expect(rowsOf(readArrowBytes(bytes).batches)).toEqual(table.rows);
    }),
    { numRuns: 200 },
  );
});

/** apache-arrow has decimals of 128 bits only, and no large lists. */
const known = (type: Parameters<typeof contains>[0]): boolean =>
  !contains(
    type,
    (inner) => (inner.kind === "decimal" && inner.bits !== 128) || (inner.kind === "list" && inner.large),
  );

test("[R1] apache-arrow reads blocks and writes them back, and its tables are read in place", () => {
  fc.assert(
    fc.property(randomTable(20, known), fc.nat(20), (table, cut) => {
      const bytes = blockBytes(built(table));
      const theirs = apache.tableFromIPC(bytes);
      expect(theirs.numRows).toBe(table.rows.length);
      expect(rowsOf(fromArrowTable(theirs))).toEqual(table.rows);
      expect(rowsOf(fromArrowTable(theirs.slice(cut)))).toEqual(table.rows.slice(cut));
      for (const format of ["stream", "file"] as const) {
        expect(rowsOf(readArrowBytes(apache.tableToIPC(theirs, format)).batches)).toEqual(table.rows);
      }
    }),
    { numRuns: 150 },
  );
});

test("[A11] an Arrow file of several batches is read by us, flechette and apache-arrow", () => {
  fc.assert(
    fc.property(randomTable(20, known), fc.nat(20), (table, cut) => {
      const batch = owned(table);
      const writer = arrowFileWriter(batch.schema);
      const parts = [sliceBatch(batch, 0, cut), sliceBatch(batch, cut, batch.length)];
      const file = Buffer.concat([writer.header(), ...parts.map((part) => writer.batch(part)), writer.footer()]);
      expect(rowsOf(readArrowBytes(file).batches)).toEqual(table.rows);
      expect(tableFromIPC(file).numRows).toBe(table.rows.length);
      expect(rowsOf(fromArrowTable(apache.tableFromIPC(file)))).toEqual(table.rows);
    }),
    { numRuns: 100 },
  );
});

test("[A10] a flechette table of several batches holds the rows and comes back as them", () => {
  fc.assert(
    fc.property(randomTable(20), fc.nat(20), (table, cut) => {
      const batch = owned(table);
      const flechette = toFlechette([sliceBatch(batch, 0, cut), sliceBatch(batch, cut, batch.length)]);
      expect(flechette.numRows).toBe(table.rows.length);
      expect(rowsOf(fromArrowTable(flechette))).toEqual(table.rows);
    }),
    { numRuns: 100 },
  );
});

test("[A13] a block may be written to and read from any address", () => {
  fc.assert(
    fc.property(randomTable(20), fc.integer({ min: 1, max: 15 }), (table, shift) => {
      const plan = planBlock(built(table));
      const target = new Uint8Array(plan.byteLength + shift + 8).fill(0xab);
      plan.write(target.subarray(shift));
      expect(target.subarray(shift + plan.byteLength)).toEqual(new Uint8Array(8).fill(0xab));
      expect(toRows(readBlock(target.subarray(shift, shift + plan.byteLength)), EXACT)).toEqual(table.rows);
    }),
    { numRuns: 100 },
  );
});
