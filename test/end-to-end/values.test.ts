import { join } from "node:path";
import { col, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("values");
const s = sessions.open({ preserveOrder: true });

/** One column of each Arrow type, with a null in every second row. */
const TYPES: Readonly<Record<string, { readonly sql: string; readonly value: unknown }>> = {
  bool: { sql: "true", value: true },
  int8: { sql: "(-5)::TINYINT", value: -5 },
  uint8: { sql: "200::UTINYINT", value: 200 },
  int16: { sql: "(-500)::SMALLINT", value: -500 },
  uint16: { sql: "60000::USMALLINT", value: 60000 },
  int32: { sql: "(-70000)::INTEGER", value: -70000 },
  uint32: { sql: "4000000000::UINTEGER", value: 4000000000 },
  int64: { sql: "9007199254740991::BIGINT", value: 9007199254740991 },
  uint64: { sql: "12::UBIGINT", value: 12 },
  float: { sql: "1.5::FLOAT", value: 1.5 },
  double: { sql: "0.1::DOUBLE", value: 0.1 },
  decimal: { sql: "123.45::DECIMAL(10,2)", value: 123.45 },
  wide: { sql: "5::DECIMAL(38,4)", value: 5 },
  text: { sql: "'héllo ✓'", value: "héllo ✓" },
  blob: { sql: "'\\xAA\\x00'::BLOB", value: Uint8Array.from([0xaa, 0]) },
  date: { sql: "DATE '2020-02-29'", value: new Date("2020-02-29T00:00:00Z") },
  timestamp: { sql: "TIMESTAMP '1969-12-31 23:59:59.5'", value: new Date(-500) },
  zoned: { sql: "TIMESTAMPTZ '2020-01-02 03:04:05+02'", value: new Date("2020-01-02T01:04:05Z") },
  time: { sql: "TIME '00:00:01.5'", value: 1500 },
  list: { sql: "[1, NULL, 3]", value: [1, null, 3] },
  fixed: { sql: "[1.5, 2.5]::DOUBLE[2]", value: [1.5, 2.5] },
  struct: { sql: "{'a': 1, 'b': ['x', NULL]}", value: { a: 1, b: ["x", null] } },
  map: { sql: "MAP {'k': 7}", value: new Map([["k", 7]]) },
  dictionary: { sql: "'b'::ENUM('a', 'b')", value: "b" },
};

const expected = (i: number) =>
  Object.fromEntries(Object.entries(TYPES).map(([name, { value }]) => [name, i % 2 === 0 ? value : null]));

const table = s
  .range(6)
  .select(...Object.entries(TYPES).map(([name, type]) => sql(`list_value(${type.sql}, NULL)[1 + id % 2]`).as(name)));

describe("every type both ways", () => {
  test("[A13] out of the kernel to the program", async () => {
    expect(await table.takeAll()).toEqual([0, 1, 2, 3, 4, 5].map(expected));
  });

  test("[A13] a filter is not failed by a value of a column that it does not look at", async () => {
    const large = s.fromItems([
      { a: 1, big: 2n ** 60n },
      { a: 2, big: 5n },
      { a: 3, big: 2n ** 61n },
    ]);
    const kept = large.filter(({ a }) => a !== 2);
    expect(await kept.takeAll({ int64: "bigint" })).toEqual([
      { a: 1, big: 2n ** 60n },
      { a: 3, big: 2n ** 61n },
    ]);
    const slow = large.filter(async ({ a }) => a !== 2);
    expect(await slow.count()).toBe(2);
    await expect(large.filter(({ big }) => big > 0).count()).rejects.toThrow(
      /"big" holds the integer 1152921504606846976/,
    );
  });

  test("[A13] through a row function and back", async () => {
    const rows = await table.map((row) => ({ ...row })).takeAll();
    expect(rows.map((row) => ({ ...row, time: row.time }))).toEqual([0, 1, 2, 3, 4, 5].map(expected));
  });

  test("[A13] through a columns batch and back", async () => {
    const rows = await table.mapBatches((batch) => batch).takeAll();
    expect(rows).toEqual([0, 1, 2, 3, 4, 5].map(expected));
  });

  test("[A13] through an Arrow batch and back, types kept", async () => {
    const same = table.mapBatches((batch) => batch, { batchFormat: "arrow" });
    const rows = await same.takeAll();
    expect(rows).toEqual([0, 1, 2, 3, 4, 5].map(expected));
  });

  test("[A13] through Parquet and back", async () => {
    const out = join(sessions.directory, "types");
    await table.writeParquet(out);
    expect(await s.readParquet(out).takeAll()).toEqual([0, 1, 2, 3, 4, 5].map(expected));
  });

  test("[A13] through Arrow files and back", async () => {
    const out = join(sessions.directory, "types-arrow");
    await table.writeArrow(out);
    expect(await s.readArrow(out).takeAll()).toEqual([0, 1, 2, 3, 4, 5].map(expected));
  });

  test("[A13] toArrow and fromArrow", async () => {
    const arrow = await table.drop("decimal", "wide").toArrow();
    expect(arrow.numRows).toBe(6);
    const back = await s.fromArrow(arrow).takeAll();
    expect(back.map((row) => row.text)).toEqual([0, 1, 2, 3, 4, 5].map((i) => expected(i).text));
    expect(back.length).toBe(6);
  });
});

describe("asking for exact values", () => {
  test("[A13] int64 as bigint", async () => {
    const rows = await s
      .range(1)
      .select(sql("(9223372036854775807)::BIGINT").as("v"))
      .map((row) => ({ type: typeof row.v, text: String(row.v) }), { int64: "bigint" })
      .takeAll();
    expect(rows).toEqual([{ type: "bigint", text: "9223372036854775807" }]);
  });

  test("[A13] decimal as text", async () => {
    const rows = await s
      .range(1)
      .select(sql("(-0.05)::DECIMAL(38,2)").as("v"), sql("12345678901234567890.12::DECIMAL(38,2)").as("w"))
      .map((row) => ({ v: String(row.v), w: String(row.w) }), { decimal: "string" })
      .takeAll();
    expect(rows).toEqual([{ v: "-0.05", w: "12345678901234567890.12" }]);
  });

  test("[A13] timestamp as bigint in its own unit", async () => {
    const rows = await s
      .range(1)
      .select(sql("TIMESTAMP '1970-01-01 00:00:00.000001'").as("v"))
      .map((row) => ({ v: String(row.v) }), { timestamp: "bigint" })
      .takeAll();
    expect(rows).toEqual([{ v: "1" }]);
  });

  test("[A13] mapBatches gives Arrow tables the values that were asked for", async () => {
    const seen = (table: { getChild(name: string): { at(row: number): unknown } }, name: string) => {
      const value = table.getChild(name).at(0);
      return value instanceof Date ? "date" : typeof value;
    };
    const ds = s.range(1).withColumn("t", sql("TIMESTAMP '2024-01-01'"));
    const kinds = async (options: { int64?: "bigint" | "number"; timestamp?: "date" | "bigint" }) =>
      ds
        .mapBatches((table) => [{ id: seen(table as never, "id"), t: seen(table as never, "t") }], {
          batchFormat: "arrow",
          ...options,
        })
        .takeAll();
    expect(await kinds({})).toEqual([{ id: "number", t: "date" }]);
    expect(await kinds({ int64: "bigint", timestamp: "bigint" })).toMatchObject([{ id: "bigint" }]);
    expect(await kinds({ timestamp: "bigint" })).not.toMatchObject([{ t: "date" }]);
  });

  test("[A13] a value past 2^53 inside a function: which operator and which row", async () => {
    const big = s.range(3).withColumn("x", sql("9007199254740991::BIGINT + id"));
    await expect(big.map((row) => row).takeAll()).rejects.toThrow(/^map, row 1: Column "x" holds/);
    await expect(big.filter((row) => Number(row.x) > 0).takeAll()).rejects.toThrow(/^filter, row 1: Column "x" holds/);
  });

  test("[A13] a declared schema decides the types of a function's result", async () => {
    const ds = s
      .range(3)
      .map((row) => ({ id: row.id, day: new Date(86_400_000 * row.id), amount: "1.25", none: null }), {
        schema: { id: "BIGINT", day: "DATE", amount: "DECIMAL(10,2)", none: "VARCHAR" },
      });
    const types = await ds
      .withColumn("types", sql("typeof(id) || ' ' || typeof(day) || ' ' || typeof(amount) || ' ' || typeof(none)"))
      .take(1);
    expect(types[0]?.types).toBe("BIGINT DATE DECIMAL(10,2) VARCHAR");
  });

  test("[A13] a column of nulls only takes its type from later rows", async () => {
    const rows = await s
      .range(10_000, { overrideNumBlocks: 2 })
      .map((row) => ({ id: row.id, late: row.id < 9_000 ? null : `t${row.id}` }))
      .filter(col("late").isNotNull())
      .takeAll();
    expect(rows.length).toBe(1000);
  });
});

describe("[A13] ISO text for declared dates and times", () => {
  const given = (type: string, text: string) => s.range(1).map(() => ({ v: text }), { schema: { v: type } });
  const read = async (type: string, text: string) =>
    (await given(type, text).select(sql("v::VARCHAR").as("v")).takeAll())[0]?.v;

  test.each([
    ["DATE", "2024-02-29", "2024-02-29"],
    ["DATE", "0001-01-01", "0001-01-01"],
    ["TIMESTAMP", "2024-01-01", "2024-01-01 00:00:00"],
    ["TIMESTAMP", "2024-01-01T10:20:30.123456Z", "2024-01-01 10:20:30.123456"],
    ["TIMESTAMP", "2024-01-01 10:20", "2024-01-01 10:20:00"],
    ["TIMESTAMP", "1969-12-31T23:59:59.5+01:00", "1969-12-31 22:59:59.5"],
    ["TIMESTAMP_NS", "2024-01-01T00:00:00.000000001", "2024-01-01 00:00:00.000000001"],
  ])("%s takes %s", async (type, text, expected) => {
    expect(await read(type, text)).toBe(expected);
  });

  test.each([
    ["DATE", "2024-02-30", /text must be a date as in "2024-01-31"/],
    ["DATE", "1/2/2024", /text must be a date/],
    ["TIMESTAMP", "2024-01-01T25:00", /text must be a time/],
    ["TIMESTAMP", "2024-01-01T00:00:00.0000001", /finer than the column/],
  ])("%s refuses %s", async (type, text, message) => {
    await expect(given(type, text).takeAll()).rejects.toThrow(message);
  });
});
