/**
 * Types that blocks have no form for (ENUM, UUID, …) travel between tasks as text. SQL behind a filter function, a
 * limit, a union or a repartition sees them as what they are: in the order of the type, not of the text.
 */
import { type AnyRow, col, count, type Dataset, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilling-sessions.ts";

const sessions = testSessions("travelling-types");
const shape = { targetMaxBlockSize: 64 * KIB, targetMinBlockSize: 16 * KIB };
const plain = sessions.open(shape);
const exchange = sessions.open({ ...shape, exchange: true });
type Opened = typeof plain;

const ENUM = "ENUM('z', 'a', 'm')";

/** The values of each type in its own order, which is not that of their texts; of UUIDs both are the same. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  [ENUM]: ["z", "a", "m"],
  "TIME WITH TIME ZONE": ["13:00:00+14", "12:00:00+01", "11:30:00+00", "01:00:00-12"],
  BIGNUM: ["-100", "-20", "3", "20", "100"],
  UUID: ["00000000-0000-0000-0000-000000000001", "a0000000-0000-0000-0000-000000000000"],
};

function rows(s: Opened, type: string): Dataset<AnyRow> {
  const values = VALUES[type] ?? [];
  const list = `CAST([${values.map((text) => `'${text}'`).join(", ")}] AS ${type}[])`;
  return s
    .range(40, { overrideNumBlocks: 4 })
    .withColumn("v", sql(`(${list})[1 + (id * 7) % ${values.length}]`))
    .withColumn("part", sql("id % 5"));
}

const filtered = (table: Dataset<AnyRow>) => table.filter((row) => Number(row.id) >= 0);

const BETWEEN: Readonly<Record<string, (table: Dataset<AnyRow>) => Dataset<AnyRow>>> = {
  "a limit": (table) => table.limit(1000),
  "a repartition": (table) => table.repartition(3),
  "a union": (table) => table.filter((row) => Number(row.id) < 20).union(table.filter((row) => Number(row.id) >= 20)),
};

const QUESTIONS: Readonly<Record<string, (table: Dataset<AnyRow>, type: string) => Dataset<AnyRow>>> = {
  "its type": (table) => table.withColumn("v", sql("typeof(v)")).sort("id"),
  "a condition": (table, type) => table.filter(sql(`v < CAST('${VALUES[type]?.at(-1)}' AS ${type})`)).sort("id"),
  "min and max": (table) =>
    table
      .groupBy("part")
      .agg({ least: col("v").min(), most: col("v").max() })
      .sort("part"),
  "a sort by min": (table) =>
    table
      .groupBy("part")
      .agg({ least: col("v").min() })
      .sort(["least", "part"]),
  "groups in order": (table) => table.groupBy("v").agg({ n: count() }).sort("v"),
  "a sort": (table) => table.sort(["v", "id"], { descending: [true, false] }),
  "a window": (table) => table.withColumn("place", sql("rank() OVER (PARTITION BY part ORDER BY v)")).sort("id"),
  distinct: (table) => table.select("v").distinct().sort("v"),
};

const texts = async (table: Dataset<AnyRow>) => (await table.takeAll()).map((row) => JSON.stringify(row));

async function keepsItsOrder(type: string, between: (table: Dataset<AnyRow>) => Dataset<AnyRow>): Promise<void> {
  for (const [name, ask] of Object.entries(QUESTIONS)) {
    const expected = await texts(ask(rows(plain, type), type));
    for (const s of [plain, exchange]) {
      expect([name, await texts(ask(between(rows(s, type)), type))]).toEqual([name, expected]);
    }
  }
}

test.each(Object.entries(BETWEEN))("[A9] an ENUM keeps its order behind %s", { timeout: 60_000 }, (_, between) =>
  keepsItsOrder(ENUM, between),
);

describe.each(Object.keys(VALUES))("%s", (type) => {
  test("[A9] keeps its order behind a filter function", { timeout: 60_000 }, () => keepsItsOrder(type, filtered));

  test("[A9] a join finds its values on both sides of a filter function", async () => {
    const expected = await rows(plain, type).join(rows(plain, type).drop("id", "part"), { on: "v" }).count();
    for (const s of [plain, exchange]) {
      const others = rows(s, type).rename({ id: "other" }).drop("part");
      expect(await filtered(rows(s, type)).join(others, { on: "v", how: "full" }).count()).toBe(expected);
    }
  });
});

/** Values that SQL computes with as their type alone lets it. */
const COMPUTED = [
  ["HUGEINT", "100000000000000000003", "CAST(v // 3 AS VARCHAR)", "33333333333333333334"],
  ["UHUGEINT", "100000000000000000003", "CAST(v // 3 AS VARCHAR)", "33333333333333333334"],
  ["HUGEINT[]", "[5, 100000000000000000003]", "CAST(v[2] // 3 AS VARCHAR)", "33333333333333333334"],
  ["JSON", '{"a": 1}', "CAST(v.a AS VARCHAR)", "1"],
] as const;

test.each(COMPUTED)(
  "[A6] %s is computed with as such, whatever it came through",
  async (type, value, text, expected) => {
    for (const s of [plain, exchange]) {
      const table: Dataset<AnyRow> = s.range(1).withColumn("v", sql(`CAST('${value}' AS ${type})`));
      const ways = [table, filtered(table), table.limit(5), filtered(table).union(table)];
      for (const each of ways)
        expect((await each.withColumn("x", sql(text)).select("x").takeAll())[0]).toEqual({ x: expected });
    }
  },
);

test("[A6] JSON is JSON behind a sort, too", async () => {
  const table: Dataset<AnyRow> = plain.range(3).withColumn("v", sql("CAST('{\"a\": ' || id || '}' AS JSON)"));
  const sorted = filtered(table).sort("id").withColumn("x", sql("CAST(v.a AS VARCHAR)")).select("x");
  expect(await sorted.takeAll()).toEqual([{ x: "0" }, { x: "1" }, { x: "2" }]);
});
