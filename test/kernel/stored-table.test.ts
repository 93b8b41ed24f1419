/** Tables inside the kernel that grow by batches whose columns do not always agree. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  blockBytes,
  parseTypeName,
  type RecordBatch,
  RowBuilder,
  readBlock,
  toRows,
  typeName,
} from "../../src/arrow/index.ts";
import type { DataType } from "../../src/arrow/types.ts";
import { KernelError } from "../../src/errors/index.ts";
import { type Connection, StoredTable } from "../../src/kernel/index.ts";
import { widerType } from "../../src/kernel/wider-type.ts";
import { contains, randomTable } from "../arrow/random-columns.ts";
import { collect, rowsOf, withKernel } from "./batches.ts";

async function stored<Result>(
  connection: Connection,
  batches: readonly RecordBatch[],
  look: (table: StoredTable) => Result | Promise<Result>,
): Promise<Result> {
  const table = new StoredTable(connection, []);
  try {
    for (const batch of batches) await table.append([batch], () => {});
    return await look(table);
  } finally {
    table.drop();
    expect(connection.all("SELECT * FROM duckdb_tables()")).toEqual([]);
  }
}

describe("the wider of two types", () => {
  test.each([
    ["INTEGER", "BIGINT", "BIGINT"],
    ["BIGINT", "DOUBLE", "DOUBLE"],
    ["INTEGER", "FLOAT", "DOUBLE"],
    ["FLOAT", "DOUBLE", "DOUBLE"],
    ["UINTEGER", "INTEGER", "BIGINT"],
    ["UTINYINT", "TINYINT", "SMALLINT"],
    ["UBIGINT", "BIGINT", "DECIMAL(20,0)"],
    ["DECIMAL(10,2)", "DECIMAL(5,4)", "DECIMAL(12,4)"],
    ["DECIMAL(10,2)", "INTEGER", "DECIMAL(12,2)"],
    ["DECIMAL(38,0)", "DECIMAL(38,10)", "DOUBLE"],
    ["DATE", "TIMESTAMP", "TIMESTAMP"],
    ["TIMESTAMP_S", "TIMESTAMP_NS", "TIMESTAMP_NS"],
    ["INTEGER[]", "DOUBLE[]", "DOUBLE[]"],
    ["INTEGER[]", "BIGINT[3]", "BIGINT[]"],
    ["STRUCT(a INTEGER, b VARCHAR)", "STRUCT(b VARCHAR, a DOUBLE)", "STRUCT(a DOUBLE, b VARCHAR)"],
    ["MAP(VARCHAR, INTEGER)", "MAP(VARCHAR, BIGINT)", "MAP(VARCHAR, BIGINT)"],
    ["VARCHAR", "INTEGER", null],
    ["BOOLEAN", "INTEGER", null],
    ["TIMESTAMP", "TIMESTAMP WITH TIME ZONE", null],
    ["DATE", "VARCHAR", null],
    ["STRUCT(a INTEGER)", "STRUCT(b INTEGER)", null],
    ["INTEGER[2]", "INTEGER[3]", null],
  ])("%s and %s: %s", async (one, other, wider) => {
    const [a, b] = [parseTypeName(one), parseTypeName(other)];
    const found = widerType(a, b);
    expect(found === null ? null : typeName(found)).toBe(wider);
    expect(widerType(b, a) === null).toBe(wider === null);
    if (wider === null) return;
    // And the kernel can make a column of the one a column of it.
    await withKernel(1, async (connection) => {
      const batches = [one, other].map((type) => collect(connection, `SELECT NULL::${type} AS c`));
      const fields = await stored(connection, batches, (table) => connection.describe(`FROM ${table.sql}`).fields);
      expect(fields.map(({ type }) => typeName(type))).toEqual([wider]);
    });
  });
});

/** Null for what the kernel does not hold: moments that are too far off, decimals that are too long. */
function readable<Result>(read: () => Result): Result | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof KernelError) return null;
    throw error;
  }
}

test("a table gives the rows that its batches give in place, of every type, in their order", async () => {
  const typed = (type: DataType) => !contains(type, ({ kind }) => kind === "null");
  await withKernel(1, async (connection) => {
    await fc.assert(
      fc.asyncProperty(randomTable(30, typed), async ({ declared, rows }) => {
        const builder = new RowBuilder(declared);
        for (const row of rows) builder.append(row);
        const batch = readBlock(blockBytes(builder.finish()));
        const inPlace = connection.table([batch]);
        const once = readable(() => rowsOf(connection, `FROM ${inPlace.sql}`));
        inPlace.release();
        fc.pre(once !== null);
        const { schema, length, columns } = batch;
        const reversed = { schema: { fields: [...schema.fields].reverse() }, length, columns: [...columns].reverse() };
        const found = await stored(connection, [batch, reversed], (table) => rowsOf(connection, `FROM ${table.sql}`));
        expect(found).toEqual([...(once ?? []), ...(once ?? [])]);
      }),
      { numRuns: 100 },
    );
  });
});

test("nulls of no type, also inside others, take the type that comes later, and stay such if none comes", async () => {
  await withKernel(1, async (connection) => {
    const build = (...rows: readonly object[]) => {
      const builder = new RowBuilder(undefined);
      for (const row of rows) builder.append(row);
      return readBlock(blockBytes(builder.finish()));
    };
    const nothing = build({ a: null, l: [null], s: { in: null, x: 1 } });
    const values = build({ a: "t", l: [{ select: 1 }], s: { in: ["u"], x: 2 } });
    const found = await stored(connection, [nothing, values, nothing], (table) => {
      expect(table.hasUntypedNulls).toBe(false);
      return connection.all(`FROM ${table.sql}`);
    });
    expect(found).toEqual([nothing, values, nothing].flatMap((batch) => toRows(batch, {})));
    const stream = await stored(connection, [nothing], async (table) => {
      expect(table.hasUntypedNulls).toBe(true);
      const open = await connection.queryAsync(`FROM ${table.sql}`, { untypedNulls: true });
      const { fields } = open.schema;
      open.close();
      return fields;
    });
    expect(stream.map(({ type }) => typeName(type))).toEqual(["NULL", "NULL[]", "STRUCT(in NULL, x DOUBLE)"]);
  });
});
