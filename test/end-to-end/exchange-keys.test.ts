/**
 * Keys of every type, with their hostile values, where rows are brought together by partitions: the answers are those
 * of the plain mode, before and after functions, also where the sides of a join or the blocks of a column differ in
 * type.
 */
import { type AnyRow, col, count, type Dataset, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilling-sessions.ts";

const sessions = testSessions("exchange-keys");
const shape = { targetMaxBlockSize: 64 * KIB, targetMinBlockSize: 16 * KIB };
const plain = sessions.open(shape);
const exchange = sessions.open({ ...shape, exchange: true });
type Opened = typeof plain;

const EXACT = { int64: "bigint", decimal: "string", timestamp: "bigint" } as const;

/** Values that a key of the type may have, as texts that the kernel reads. All types: test/stages/keys.test.ts. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  BIGINT: ["9007199254740993", "9007199254740992", "9007199254740994", "-9223372036854775808", "9223372036854775807"],
  DOUBLE: ["nan", "-nan", "inf", "-inf", "0", "-0.0", "5.5", "9007199254740992", "1e300"],
  FLOAT: ["nan", "-nan", "inf", "0", "-0.0", "0.1", "16777216"],
  "DECIMAL(18,3)": ["123456789012345.678", "123456789012345.677", "-0.001"],
  "DECIMAL(38,10)": ["1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456788", "-5.5"],
  VARCHAR: ["", "a", "A", "ä", "\u{1f600}", "12", "2020-01-01"],
  DATE: ["2020-01-01", "1600-02-29", "5000000-01-01", "5000000-01-02", "infinity", "-infinity"],
  TIMESTAMP: ["2020-01-01", "2020-01-01 00:00:00.000001", "1700-02-28"],
  TIMESTAMP_NS: ["2020-01-01", "2020-01-01 00:00:00.000000001", "1700-01-01 00:00:00.000000001"],
  TIMESTAMPTZ: ["2020-01-01 00:00:00+00", "2020-01-01 00:00:00.000001+00"],
  TIMETZ: ["12:00:00+01", "11:30:00+00", "11:00:00-01"],
  INTERVAL: ["1 month", "30 days", "720 hours", "29 days", "31 days", "1 month -5 days", "-1 day", "-25 hours"],
  "ENUM('z', 'a', 'm')": ["z", "a", "m"],
  "DOUBLE[]": ["[1, 2]", "[nan]", "[-nan]", "[-0.0]", "[0.0]"],
};

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** The values one after another, and nulls, in four blocks. */
function keyed(s: Opened, type: string, rows: number): Dataset<AnyRow> {
  const values = VALUES[type] ?? [];
  const list = `CAST([${values.map(quoted).join(", ")}, NULL] AS ${type}[])`;
  return s.range(rows, { overrideNumBlocks: 4 }).withColumn("k", sql(`(${list})[1 + id % ${values.length + 1}]`));
}

/** As a text that tells all of the value, of either sign of zero and of NaN the same one. */
async function told(rows: Dataset<AnyRow>, keeps: "order" | "rows"): Promise<readonly string[]> {
  const texts = (
    await rows.withColumn("k", sql("replace(replace(CAST(k AS VARCHAR), '-nan', 'nan'), '-0.0', '0.0')")).takeAll(EXACT)
  ).map((row) => JSON.stringify(row, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)));
  return keeps === "order" ? texts : [...texts].sort();
}

const same = (rows: Dataset<AnyRow>) => rows.map((row) => ({ ...row }), EXACT);

/** One of many equal values may stand for all: which one is not said, and of intervals it shows. */
const shown = (type: string, rows: Dataset<AnyRow>) =>
  type === "INTERVAL" ? rows.withColumn("k", sql("CAST(k = INTERVAL '30 days' AS VARCHAR)")) : rows;

describe.each([
  { after: "SQL", by: (rows: Dataset<AnyRow>) => rows },
  { after: "functions", by: same },
])("keys after $after", ({ by }) => {
  test.each(Object.keys(VALUES))("[A9] of %s go where the plain mode has them", async (type) => {
    const groups = (s: Opened) =>
      by(keyed(s, type, 120))
        .groupBy("k")
        .agg({ n: count(), first: col("id").min(), middle: col("id").median() });
    expect(await told(shown(type, groups(exchange)), "rows")).toEqual(await told(shown(type, groups(plain)), "rows"));
    const joined = (s: Opened) =>
      by(keyed(s, type, 60)).join(by(keyed(s, type, 9)).rename({ id: "other" }), { on: "k", how: "full" });
    expect(await told(shown(type, joined(exchange)), "rows")).toEqual(await told(shown(type, joined(plain)), "rows"));
    const sorted = (s: Opened) =>
      told(by(keyed(s, type, 400)).sort(["k", col("id").negate()], { descending: [true, false] }), "order");
    expect(await sorted(exchange)).toEqual(await sorted(plain));
  });
});

test.each(["DOUBLE", "FLOAT", "INTERVAL", "TIMESTAMP_NS"])(
  "[A8] groups of %s come whole to a function",
  async (type) => {
    const counts = await keyed(plain, type, 120).groupBy("k").agg({ n: count() }).select("n").sort("n").takeAll();
    for (const by of [same, (rows: Dataset<AnyRow>) => rows]) {
      const groups = by(keyed(plain, type, 120))
        .groupBy("k")
        .mapGroups((group) => [{ n: group.length }], { ...EXACT, batchFormat: "rows" });
      expect(await groups.sort("n").takeAll()).toEqual(counts);
    }
  },
);

test.each([null, "k"] as const)("[A9] distinct of functions' rows (by %s)", async (key) => {
  const found = async (s: Opened) => {
    const rows = same(keyed(s, "DOUBLE", 120)).select("k");
    return (key === null ? rows.map(({ k }) => ({ k })).distinct() : rows.distinct(key)).count();
  };
  expect([await found(plain), await found(exchange)]).toEqual([8, 8]);
});

describe("types that differ", () => {
  const pairs = [
    ["BIGINT", "DOUBLE"],
    ["DECIMAL(18,3)", "DECIMAL(38,10)"],
    ["DECIMAL(18,3)", "DOUBLE"],
    ["FLOAT", "DOUBLE"],
    ["TIMESTAMP", "TIMESTAMP_NS"],
    ["TIMESTAMP", "TIMESTAMPTZ"],
    ["VARCHAR", "ENUM('z', 'a', 'm')"],
  ] as const;

  test.each(pairs)("[A9] a join of %s and %s", async (a, b) => {
    for (const by of [same, (rows: Dataset<AnyRow>) => rows]) {
      const made = (s: Opened) =>
        by(keyed(s, a, 60)).join(by(keyed(s, b, 60)).rename({ id: "other" }), { on: "k", how: "full" });
      expect(await told(made(exchange), "rows")).toEqual(await told(made(plain), "rows"));
    }
  });

  test("[A9] dates and timestamps of functions find each other, in a join and in a union", async () => {
    const days = (s: Opened, type: string) =>
      same(
        s
          .range(200, { overrideNumBlocks: 4 })
          .withColumn("k", sql(`CAST(DATE '2020-01-01' + CAST(id AS INTEGER) AS ${type})`)),
      );
    const joined = (s: Opened) => days(s, "DATE").join(days(s, "TIMESTAMP"), { on: "k" });
    expect(await joined(exchange).count()).toBe(200);
    expect(await joined(plain).count()).toBe(200);
    const both = (s: Opened) => days(s, "DATE").select("k").union(days(s, "TIMESTAMP").select("k"));
    for (const s of [plain, exchange]) {
      expect(await both(s).distinct().count()).toBe(200);
      expect(await both(s).groupBy("k").count().count()).toBe(200);
      const sorted = await both(s).sort("k").takeAll();
      expect(sorted.map(({ k }) => Number(k))).toEqual(sorted.map(({ k }) => Number(k)).sort((x, y) => x - y));
    }
  });

  test("[A9] numbers and bigints of one column are one key, and sort by the next key where they are equal", async () => {
    const mixed = (s: Opened) => {
      const numbers = s.range(100).map(({ id }) => ({ k: id % 5, n: id }));
      const bigints = s.range(100).map(({ id }) => ({ k: BigInt(id % 5), n: id + 100 }));
      return numbers.union(bigints as unknown as typeof numbers);
    };
    for (const s of [plain, exchange]) {
      expect(await mixed(s).groupBy("k").count().sort("k").takeAll()).toEqual(
        [0, 1, 2, 3, 4].map((k) => ({ k, count: 40 })),
      );
      const sorted = await mixed(s).sort(["k", "n"]).takeAll();
      const keys = sorted.map(({ k, n }) => Number(k) * 1000 + n);
      expect(keys).toEqual([...keys].sort((x, y) => x - y));
    }
  });

  const text = (s: Opened) => s.range(20).map(({ id }) => ({ k: String(id) }));
  const number = (s: Opened) => s.range(20).map(({ id }) => ({ k: id }));
  test.each([
    { mode: "plain", s: plain },
    { mode: "exchange", s: exchange },
  ])("[A9] what can never be equal is refused where functions made it ($mode)", async ({ s }) => {
    const message = /the key "k" is VARCHAR on the left and "k" BIGINT on the right, which are never equal. Cast one/;
    await expect(
      text(s)
        .join(number(s) as never, { on: "k" })
        .takeAll(),
    ).rejects.toThrow(message);
    await expect(
      text(s)
        .join(number(s) as never, { on: "k", how: "full" })
        .takeAll(),
    ).rejects.toThrow(message);
    const halves = s.range(20).mapBatches(({ id }) => ({ k: Float32Array.from(id) }));
    await expect(halves.join(s.range(20).rename({ id: "k" }), { on: "k" }).takeAll()).rejects.toThrow(
      /"k" is FLOAT on the left and "k" BIGINT on the right, which are equal only after rounding/,
    );
    const declared = s.range(20).map(({ id }) => ({ k: String(id) }), { schema: { k: "varchar" } });
    await expect(declared.join(s.range(3).rename({ id: "k" }) as never, { on: "k" }).explain()).rejects.toThrow(
      /"k" is VARCHAR on the left and "k" BIGINT on the right, which are never equal/,
    );
  });
});
