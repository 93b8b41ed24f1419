/**
 * Every aggregate of every type, straight from the source and after functions: a value, or a refusal that says what to
 * do.
 */
import { join } from "node:path";
import { col, type Dataset, KernelError, OptionError, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("aggregate-types");
const s = sessions.open({ preserveOrder: true });

const NUMBERS = ["sum", "mean", "std", "var", "quantile"];
const day = (n: number, hour = 0) => new Date(Date.UTC(2024, 0, n, hour));

/** SQL of the column over ids 1 to 4, which of NUMBERS it has none of, and some of the values it has. */
const kinds: readonly [type: string, column: string, refused: readonly string[], values: Record<string, unknown>][] = [
  ["INTEGER", "CAST(id AS INTEGER)", [], { sum: 10, mean: 2.5, quantile: 2.5, min: 1, max: 4 }],
  ["DECIMAL", "CAST(id AS DECIMAL(10, 2))", [], { sum: 10, mean: 2.5, min: 1 }],
  ["DOUBLE", "CAST(id AS DOUBLE) / 2", [], { sum: 5, mean: 1.25, max: 2 }],
  ["BOOLEAN", "id > 2", ["mean", "std", "var", "quantile"], { sum: 2, min: false, max: true, countDistinct: 2 }],
  ["VARCHAR", "'t' || id", NUMBERS, { min: "t1", max: "t4", list: ["t1", "t2", "t3", "t4"] }],
  [
    "DATE",
    "DATE '2023-12-31' + CAST(id AS INTEGER)",
    ["sum", "std", "var"],
    { mean: day(2, 12), quantile: day(2, 12), min: day(1), max: day(4), first: day(1) },
  ],
  [
    "TIMESTAMP",
    "TIMESTAMP '2024-01-01' + INTERVAL (id) HOUR",
    ["sum", "std", "var"],
    { mean: new Date(Date.UTC(2024, 0, 1, 2, 30)), quantile: new Date(Date.UTC(2024, 0, 1, 2, 30)), max: day(1, 4) },
  ],
  [
    "TIMESTAMPTZ",
    "TIMESTAMPTZ '2024-01-01 00:00:00+00' + INTERVAL (id) HOUR",
    ["sum", "std", "var"],
    { mean: new Date(Date.UTC(2024, 0, 1, 2, 30)), min: day(1, 1) },
  ],
  ["BLOB", "encode('b' || id)", NUMBERS, { min: Uint8Array.of(98, 49), countDistinct: 4 }],
  ["BIGINT[]", "[id % 2, id]", NUMBERS, { min: [0, 2], max: [1, 3], countDistinct: 4, first: [1, 1] }],
  ["STRUCT", "{'a': id}", NUMBERS, { min: { a: 1 }, list: [{ a: 1 }, { a: 2 }, { a: 3 }, { a: 4 }], countDistinct: 4 }],
  ["STRUCT[]", "[{'a': id}]", NUMBERS, { max: [{ a: 4 }], list: [[{ a: 1 }], [{ a: 2 }], [{ a: 3 }], [{ a: 4 }]] }],
];

const aggregates = {
  sum: col("v").sum(),
  mean: col("v").mean(),
  std: col("v").std(),
  var: col("v").var(),
  quantile: col("v").quantile(0.5),
  min: col("v").min(),
  max: col("v").max(),
  countDistinct: col("v").countDistinct(),
  list: col("v").list(),
  first: col("v").first(),
};

const rowsOf = (column: string) =>
  s.range(4, { overrideNumBlocks: 2 }).withColumn("id", col("id").add(1)).select(sql<number>(column).as("v"));

const wholeOrPassed: readonly [string, (rows: Dataset<{ v: number }>) => Dataset<{ v: number }>][] = [
  ["as it is read", (rows) => rows],
  ["passed on by a function", (rows) => rows.map((row) => ({ v: row.v }))],
  ["made by a function", (rows) => rows.flatMap((row) => [Object.fromEntries([["v", row.v]]) as { v: number }])],
];

describe.each(wholeOrPassed)("aggregates of a column %s", (_, made) => {
  test.each(kinds)("[A8] %s", async (_type, column, refused, values) => {
    const rows = made(rowsOf(column));
    for (const [name, aggregate] of Object.entries(aggregates)) {
      const found = rows.agg({ found: aggregate });
      if (refused.includes(name)) {
        await expect(found, name).rejects.toThrow(/there is no .* of .* values\. Convert them to numbers first/);
        await expect(found, name).rejects.toBeInstanceOf(KernelError);
      } else {
        const { found: value } = await found;
        if (name in values) expect(value, name).toEqual(values[name]);
      }
    }
  });
});

test("[A8] where a file tells the type, a wrong aggregate is refused before anything runs", async () => {
  const path = join(sessions.directory, "typed");
  const rows = s
    .range(3)
    .select(sql("'t' || id").as("text"), sql("id = 1").as("flag"), sql("DATE '2024-01-01'").as("at"));
  await rows.writeParquet(path);
  const read = s.readParquet(path);
  for (const [name, column] of [
    ["sum", "text"],
    ["mean", "flag"],
    ["std", "at"],
  ] as const) {
    const found = read.groupBy("text").agg({ found: aggregateOf(name, column) });
    await expect(found.explain(), name).rejects.toBeInstanceOf(OptionError);
    await expect(found.takeAll(), name).rejects.toThrow(`there is no ${name} of "${column}", which is`);
  }
  expect(await read.mean("at")).toEqual(day(1));
});

function aggregateOf(name: "sum" | "mean" | "std", column: string) {
  return col(column)[name]();
}

test("[A8] a mean of times is that of all parts, those without a value too", async () => {
  const items = [
    { k: 1, at: null },
    { k: 2, at: day(1) },
    { k: 1, at: day(3) },
    { k: 2, at: day(4) },
    { k: 2, at: day(4) },
    { k: 3, at: null },
  ];
  const rows = s.fromItems(items, { overrideNumBlocks: 6 }).map((row) => ({ k: row.k, at: row.at }));
  expect(
    await rows
      .groupBy("k")
      .agg({ at: col("at").mean() })
      .sort("k")
      .takeAll(),
  ).toEqual([
    { k: 1, at: day(3) },
    { k: 2, at: day(3) },
    { k: 3, at: null },
  ]);
  const none: unknown = await rows.where(col("k").gt(3)).mean("at");
  expect(none).toBeNull();
});

describe("[A8] what is cut in two, by type", () => {
  const exchanged = sessions.open({ exchange: true, preserveOrder: true });
  /** SQL of hostile values over ids 0 to 11; the texts of some have another order than they have. */
  const columns: Readonly<Record<string, string>> = {
    enumeration: "CAST(['z', 'm', 'a', 'k'][1 + id % 4] AS ENUM ('z', 'k', 'm', 'a'))",
    bits: "CAST(['1', '01', '11', '000000001'][1 + id % 4] AS BIT)",
    big: "CAST(['12', '9', '-3', '-12'][1 + id % 4] AS BIGNUM)",
    zoned: "CAST(['12:00:00+00', '12:30:00+02', '11:00:00-03', '12:00:00-01'][1 + id % 4] AS TIMETZ)",
    uuid: "CAST(md5(CAST(id AS VARCHAR)) AS UUID)",
    list: "[CAST(['z', 'a'][1 + id % 2] AS ENUM ('z', 'a'))]",
    decimal: "CAST((id - 5) * 0.37 AS DECIMAL(12, 2))",
    wide: "CAST(id * 12345678901234567 AS DECIMAL(38, 10))",
    long: "CASE WHEN id % 3 = 0 THEN CAST(9223372036854775807 AS BIGINT) ELSE CAST(-9223372036854775807 AS BIGINT) - 1 END",
    unsigned: "CASE WHEN id % 3 = 0 THEN CAST('18446744073709551615' AS UBIGINT) ELSE CAST(id AS UBIGINT) END",
    nan: "CAST(['nan', '1.5', '-0.0', '0.0'][1 + id % 4] AS DOUBLE)",
    infinite: "CAST(['inf', '1.5', '2', '3'][1 + id % 4] AS DOUBLE)",
    interval: "to_days(CAST(31 - id AS INTEGER)) + to_months(CAST(id % 2 AS INTEGER))",
    union:
      "CASE WHEN id % 2 = 0 THEN CAST(1 AS UNION(number INTEGER, text VARCHAR)) ELSE CAST('1' AS UNION(number INTEGER, text VARCHAR)) END",
    unions:
      "[CASE WHEN id % 2 = 0 THEN CAST(1 AS UNION(number INTEGER, text VARCHAR)) ELSE CAST('1' AS UNION(number INTEGER, text VARCHAR)) END]",
    nothing: "CAST(NULL AS ENUM ('z', 'a'))",
  };
  const numbers = new Set(["decimal", "wide", "long", "unsigned", "nan", "infinite"]);
  /** Sums of the others leave 64 bits, which is an error. */
  const summed = new Set(["decimal", "wide", "nan", "infinite"]);

  test.each(Object.entries(columns))(
    "%s: as in one go, with nulls, without rows, with and without keys",
    async (name, column) => {
      const nothing = `CASE WHEN id % 6 <> 5 THEN ${column} END`;
      const answers = async (rows: Dataset) => {
        const x = rows.withColumn("x", sql(nothing)).withColumn("k", sql("id // 6"));
        const aggregates = {
          n: col("x").count(),
          min: col("x").min(),
          max: col("x").max(),
          first: col("x").first(),
          distinct: col("x").countDistinct(),
          ...(numbers.has(name) ? { mean: col("x").mean() } : {}),
          ...(summed.has(name) ? { sum: col("x").sum() } : {}),
        };
        const options = { int64: "bigint", decimal: "string" } as const;
        return [
          await x.groupBy("k").agg(aggregates).sort("k").takeAll(options),
          await x.agg(aggregates, options),
          await x.filter(col("id").gt(100)).agg(aggregates, options),
          await x.filter(col("id").eq(5)).agg(aggregates, options),
        ];
      };
      const plain = await answers(s.range(12));
      for (const from of [s, exchanged]) {
        const rows = from.range(12, { overrideNumBlocks: 4 });
        expect(await answers(rows), "as read").toEqual(plain);
        expect(await answers(rows.map((row) => row)), "after a function").toEqual(plain);
      }
    },
  );

  test.each(["decimal", "wide", "long", "unsigned"])("%s: std and var as in one go", async (name) => {
    const answers = async (rows: Dataset) => {
      const x = rows.withColumn("x", sql(`CASE WHEN id % 6 <> 5 THEN ${columns[name]} END`));
      const both = { std: col("x").std(), var: col("x").var() };
      return [await x.agg(both), await x.filter(col("id").eq(5)).agg(both), await x.filter(col("id").eq(4)).agg(both)];
    };
    const plain = await answers(s.range(12));
    for (const from of [s, exchanged]) {
      const found = await answers(from.range(12, { overrideNumBlocks: 4 }).map((row) => row));
      for (const [i, { std, var: variance }] of found.entries()) {
        const expected = plain[i];
        if (expected?.std == null) expect({ std, var: variance }).toEqual(expected);
        else {
          expect(Number(std) / Number(expected.std)).toBeCloseTo(1, 12);
          expect(Number(variance) / Number(expected.var)).toBeCloseTo(1, 12);
        }
      }
    }
  });

  test.each([
    ["BIGINT", "9007199254740000 + id"],
    ["DOUBLE", "1e15 + id / 8"],
    ["far apart", "CASE WHEN id < 500 THEN 1e15 + id ELSE id END"],
    ["near the largest DOUBLE", "CASE WHEN id IN (7, 8) THEN 1.5e150 ELSE -1e150 END"],
  ])("[A8] std and var lose nothing where the mean is large: %s", async (_, column) => {
    const both = { std: col("x").std(), var: col("x").var() };
    const answers = async (rows: Dataset) => {
      const x = rows.withColumn("x", sql(column)).withColumn("k", sql("id % 2"));
      return [await x.agg(both), ...(await x.groupBy("k").agg(both).sort("k").drop("k").takeAll())];
    };
    const plain = await answers(s.range(1000));
    for (const from of [s, exchanged]) {
      const found = await answers(from.range(1000, { overrideNumBlocks: 7 }).map((row) => row));
      // The kernel itself rounds a mean of 2^53 to whole numbers.
      for (const [i, { std, var: variance }] of found.entries()) {
        expect(Number(std) / Number(plain[i]?.std)).toBeCloseTo(1, 4);
        expect(Number(variance) / Number(plain[i]?.var)).toBeCloseTo(1, 4);
      }
    }
  });
});
