/** A function that returns columns as they came keeps their types; what it makes gets the type of its values. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("kept-types");
const s = sessions.open({ preserveOrder: true });

/** A value of each type that the kernel gives, and is given back. */
const VALUES: Readonly<Record<string, string>> = {
  bool: "true",
  int8: "(-5)::TINYINT",
  uint8: "200::UTINYINT",
  int16: "(-500)::SMALLINT",
  uint16: "60000::USMALLINT",
  int32: "(-70000)::INTEGER",
  uint32: "4000000000::UINTEGER",
  int64: "(-9007199254740991)::BIGINT",
  uint64: "12::UBIGINT",
  float: "1.5::FLOAT",
  double: "0.1::DOUBLE",
  small: "(-1.25)::DECIMAL(4,2)",
  decimal: "123.45::DECIMAL(10,2)",
  wide: "(-5.0001)::DECIMAL(38,4)",
  text: "'héllo ✓'",
  blob: "'\\xAA\\x00'::BLOB",
  date: "DATE '2020-02-29'",
  seconds: "TIMESTAMP_S '1969-12-31 23:59:59'",
  milliseconds: "TIMESTAMP_MS '1969-12-31 23:59:59.5'",
  timestamp: "TIMESTAMP '1969-12-31 23:59:59.5'",
  nanoseconds: "TIMESTAMP_NS '2020-01-02 03:04:05.678'",
  zoned: "TIMESTAMPTZ '2020-01-02 03:04:05+02'",
  time: "TIME '00:00:01.500123'",
  interval: "INTERVAL '14 months 3 days 4 seconds'",
  list: "[1, NULL, 3]",
  days: "[DATE '2020-02-29', NULL]",
  fixed: "[1.5, 2.5]::DOUBLE[2]",
  struct: "{'a': 1::SMALLINT, 'b': ['x', NULL], 'c': 1.5::DECIMAL(6,1)}",
  map: "MAP {'k': 7::BIGINT}",
  dictionary: "'b'::ENUM('a', 'b')",
};

/** A null in every second row, or no nulls. */
const withNulls = s
  .range(6)
  .select(...Object.entries(VALUES).map(([name, text]) => sql(`list_value(${text}, NULL)[1 + id % 2]`).as(name)));
/** An enum is text to JavaScript, and its words are not part of a block: text is what comes back. */
async function typesOf(table: typeof full) {
  const { columns } = await table.schema();
  return columns.map(({ name, type }) => ({ name, type: name === "dictionary" ? "VARCHAR" : type }));
}
const full = s.range(6).select(...Object.entries(VALUES).map(([name, text]) => sql(text).as(name)));

describe.each([
  ["with nulls", withNulls],
  ["without nulls", full],
])("every type, %s", (_, table) => {
  const EXTRA = { name: "extra", type: "DOUBLE" };

  test("[A13] through map, with a column made", async () => {
    const mapped = table.map((row) => ({ ...row, extra: 1 }));
    expect((await mapped.schema()).columns).toEqual([...(await typesOf(table)), EXTRA]);
    expect(await mapped.drop("extra").takeAll()).toEqual(await table.takeAll());
  });

  test("[A13] through flatMap", async () => {
    const mapped = table.flatMap((row) => [row, { ...row }]);
    expect((await mapped.schema()).columns).toEqual(await typesOf(table));
    const before = await table.takeAll();
    expect(await mapped.takeAll()).toEqual(before.flatMap((row) => [row, row]));
  });

  test("[A13] through an async map", async () => {
    const mapped = table.map(async (row) => ({ ...row, extra: await Promise.resolve(1) }));
    expect((await mapped.schema()).columns).toEqual([...(await typesOf(table)), EXTRA]);
    expect(await mapped.drop("extra").takeAll()).toEqual(await table.takeAll());
  });

  test("[A13] through batches of columns", async () => {
    const mapped = table.mapBatches((batch) => ({ ...batch }), { batchSize: 4 });
    expect((await mapped.schema()).columns).toEqual(await typesOf(table));
    expect(await mapped.takeAll()).toEqual(await table.takeAll());
  });

  test("[A13] asked for exact values, through map and batches", async () => {
    const exact = { int64: "bigint", decimal: "string", timestamp: "bigint" } as const;
    for (const mapped of [table.map((row) => ({ ...row }), exact), table.mapBatches((batch) => batch, exact)]) {
      expect((await mapped.schema()).columns).toEqual(await typesOf(table));
      expect(await mapped.takeAll()).toEqual(await table.takeAll());
    }
  });
});

describe("numbers past what JavaScript's hold", () => {
  const huge = s
    .range(2)
    .select(
      sql("9223372036854775807 - id").as("int64"),
      sql("(12345678901234567890.12 + id)::DECIMAL(38,2)").as("decimal"),
      sql("TIMESTAMP '2020-01-01 00:00:00.000001'").as("moment"),
    );
  const exact = { int64: "bigint", decimal: "string", timestamp: "bigint" } as const;
  const texts = sql('concat_ws(\' \', typeof(int64), int64, typeof("decimal"), "decimal", moment)').as("text");

  test("[A13] come through every digit, where asked for exactly", async () => {
    const expected = await huge.select(texts).takeAll();
    expect(expected[0]?.text).toBe(
      "BIGINT 9223372036854775807 DECIMAL(38,2) 12345678901234567890.12 2020-01-01 00:00:00.000001",
    );
    expect(
      await huge
        .map((row) => ({ ...row }), exact)
        .select(texts)
        .takeAll(),
    ).toEqual(expected);
    expect(
      await huge
        .mapBatches((batch) => batch, exact)
        .select(texts)
        .takeAll(),
    ).toEqual(expected);
  });
});

describe("what keeps its type, and what does not", () => {
  const orders = s
    .range(3)
    .rename({ id: "key" })
    .withColumn("price", sql("(key * 1.5)::DECIMAL(15,2)"))
    .withColumn("day", sql("DATE '2020-01-01'"));
  const types = async (ds: { schema(): Promise<{ toString(): string }> }) => (await ds.schema()).toString();

  test("[A13] a renamed column keeps its type, a made one has that of its values", async () => {
    const mapped = orders.map((row) => ({
      id: row.key,
      day: row.day,
      tax: Number(row.price) * 0.2,
      next: row.key + 1,
    }));
    expect(await types(mapped)).toBe("id: BIGINT\nday: DATE\ntax: DOUBLE\nnext: DOUBLE");
  });

  test("[A13] a row changed in place keeps the rest", async () => {
    const mapped = orders.map((row) => {
      row.key = row.key + 0.5;
      return row;
    });
    expect(await types(mapped)).toBe("key: DOUBLE\nprice: DECIMAL(15,2)\nday: DATE");
    expect((await mapped.takeAll()).map((row) => row.key)).toEqual([0.5, 1.5, 2.5]);
  });

  test("[A13] a batch written in place keeps the rest", async () => {
    const mapped = orders.mapBatches((batch) => {
      const keys = batch.key as Float64Array;
      for (let i = 0; i < keys.length; i++) keys[i] = (keys[i] ?? 0) / 2;
      return { ...batch, key: keys };
    });
    expect(await types(mapped)).toBe("key: DOUBLE\nprice: DECIMAL(15,2)\nday: DATE");
  });

  test("[A13] what cannot be followed has the types of its values", async () => {
    const helper = (row: { key: number }) => ({ ...row });
    expect(await types(orders.map((row) => helper(row)))).toBe("key: DOUBLE\nprice: DOUBLE\nday: TIMESTAMP");
  });

  test("[A13] a declared type goes before the one that would be kept", async () => {
    const mapped = orders.map((row) => ({ ...row }), { schema: { key: "INTEGER", price: "DOUBLE" } });
    expect(await types(mapped)).toBe("key: INTEGER\nprice: DOUBLE\nday: DATE");
  });

  test("[A13] types are kept through SQL and further functions", async () => {
    const mapped = orders
      .map((row) => ({ ...row, a: 1 }))
      .withColumn("b", sql("key + 1"))
      .mapBatches((batch) => ({ ...batch, c: batch.key.length > 0 ? Array.from(batch.key, String) : [] }))
      .flatMap((row) => (row.key > 0 ? [row] : []));
    expect(await types(mapped)).toBe("key: BIGINT\nprice: DECIMAL(15,2)\nday: DATE\na: DOUBLE\nb: BIGINT\nc: VARCHAR");
  });

  test("[A13] a column that is changed behind the analysis is an error with its remedy", async () => {
    const mapped = orders.flatMap((row) =>
      [row.key]
        .map(() => ({ ...row }))
        .filter((made) => {
          made.key = 0.5;
          return true;
        }),
    );
    await expect(mapped.takeAll()).rejects.toThrow(
      /Column "key" \(BIGINT\) cannot hold 0\.5: .*declare it: schema: \{ "key": "DOUBLE" \}/,
    );
    const declared = orders.flatMap(
      (row) =>
        [row.key]
          .map(() => ({ ...row }))
          .filter((made) => {
            made.key = 0.5;
            return true;
          }),
      { schema: { key: "DOUBLE" } },
    );
    expect((await declared.takeAll()).map((row) => row.key)).toEqual([0.5, 0.5, 0.5]);
  });

  test("[A11] partitions by an integer that came through functions are whole numbers", async () => {
    const out = join(sessions.directory, "partitions");
    await s
      .range(9)
      .withColumn("k", sql("id % 3"))
      .map((row) => ({ ...row, extra: row.id / 2 }))
      .writeParquet(out, { partitionBy: ["k"] });
    expect(readdirSync(out).sort()).toEqual(["k=0", "k=1", "k=2"]);
  });
});
