/**
 * Relational work at its edges, in real sessions, with one wide kernel and as an exchange: nothing to work on, one key
 * in half of the rows, keys of every type, nulls, NaN and -0, rows of a megabyte, a single worker.
 */
import { join } from "node:path";
import { type AnyRow, col, count, type Dataset, type Session, type WriteSummary } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";
import { KIB } from "../support/spilling-sessions.ts";

const sessions = testSessions("relational-edges");
const path = (name: string) => join(sessions.directory, name);
const texts = (rows: readonly unknown[]) => rows.map((row) => JSON.stringify(row)).sort();

interface Row {
  n: number | null;
  t: string;
  l: number[];
}
const SCHEMA = { n: "BIGINT", t: "VARCHAR", l: "BIGINT[]" };
const three: Row[] = [
  { n: 1, t: "a", l: [1, 2] },
  { n: 2, t: "b", l: [] },
  { n: null, t: "c", l: [3] },
];

describe.each([{ exchange: false }, { exchange: true }])("exchange $exchange", ({ exchange }) => {
  const s = sessions.open({ exchange, targetMaxBlockSize: 64 * KIB, targetMinBlockSize: 32 * KIB });
  const items = <R extends AnyRow>(rows: readonly R[], schema?: Record<string, string>) =>
    s.fromItems([...rows], { overrideNumBlocks: 3, ...(schema === undefined ? {} : { schema }) });
  const few = () => items(three, SCHEMA);
  const ids = (rows: number) => s.range(rows, { overrideNumBlocks: 4 });

  let emptyFile: Promise<WriteSummary> | null = null;

  /** No rows, of columns that are known and that are not. */
  const nothing: Readonly<Record<string, () => Promise<Dataset<Row>>>> = {
    "a file of no rows": async () => {
      emptyFile ??= s.fromItems<Row>([], { schema: SCHEMA }).writeParquet(path(`empty-${exchange}`));
      return s.readParquet<Row>([...(await emptyFile).files]);
    },
    "a condition that nothing meets": async () => few().where(col("t").eq("z")),
    "a function that keeps nothing": async () => few().filter(() => false),
    "a function that returns nothing": async () => few().flatMap((): Row[] => []),
    "a function and then a condition": async () =>
      few()
        .map((row) => ({ ...row }))
        .where(col("n").gt(9)),
    "no items": async () => s.fromItems<Row>([]),
    "no items of a schema": async () => s.fromItems<Row>([], { schema: SCHEMA }),
  };

  describe.each(Object.entries(nothing))("%s", (_, make) => {
    const gone: Readonly<Record<string, (none: Dataset<Row>) => Dataset<AnyRow>>> = {
      "sort by a column": (none) => none.sort("n"),
      "sort by an expression": (none) => none.sort([col("n").negate(), "t"], { descending: true, nulls: "first" }),
      "what follows a sort": (none) =>
        none.sort("n").explode("l").withColumn("u", col("t").upper()).where(col("n").isNotNull()),
      shuffle: (none) => none.randomShuffle({ seed: 1 }),
      "shuffle, then groups": (none) => none.randomShuffle({ seed: 1 }).groupBy("n").count(),
      distinct: (none) => none.distinct(),
      "distinct columns": (none) => none.distinct("n", "t"),
      groups: (none) =>
        none.groupBy("n").agg({ c: count(), s: col("n").sum(), m: col("n").median(), all: col("t").list() }),
      "functions over groups": (none) => none.groupBy("n").mapGroups((group) => group),
      "a shuffle, then functions over groups": (none) =>
        none
          .randomShuffle({ seed: 1 })
          .groupBy("n", "t")
          .mapGroups((group) => group),
      "a join with itself": (none) => none.join(none.select("n"), { on: "n" }),
      "an inner join": (none) => none.join(few().select("n"), { on: "n" }),
      "a cross join": (none) => few().select("n").rename({ n: "m" }).join(none, { how: "cross" }),
      "a semi join": (none) => few().join(none, { on: "n", how: "semi" }),
      "a join, then groups": (none) => none.join(few().select("n"), { on: "n", how: "anti" }).groupBy("t").count(),
      zip: (none) => none.zip(none.select("t").rename({ t: "u" })),
      union: (none) => none.union(none).sort("n"),
      "a number of partitions": (none) => none.repartition(3),
      "partitions by rows, bytes and keys": (none) =>
        none.repartition({ targetRows: 2 }).repartition({ targetBytes: "1 KiB" }).repartition({ keys: "n", count: 2 }),
      "limit after sort": (none) => none.sort("t").limit(2),
      sample: (none) => none.sort("t").sample({ rows: 2, seed: 1 }),
    };
    test.each(Object.entries(gone))("[A6] [A8] [A9] nothing comes of %s", async (_, operator) => {
      expect(await operator(await make()).takeAll()).toEqual([]);
    });

    test("[A8] [A9] what gives rows of nothing, and the rows of the other side", async () => {
      const none = await make();
      expect(
        await none
          .groupBy()
          .agg({ c: count(), s: col("n").sum() })
          .takeAll(),
      ).toEqual([{ c: 0, s: null }]);
      expect(await none.sum("n")).toBeNull();
      expect(await none.countDistinct("t")).toBe(0);
      expect(texts(await few().join(none, { on: "n", how: "anti" }).takeAll())).toEqual(texts(three));
      const others = few().select("n", "t").rename({ t: "u" });
      for (const found of [
        await others.join(none, { on: "n", how: "left" }).select("n", "u").takeAll(),
        await none.join(others, { on: "n", how: "right" }).select("n", "u").takeAll(),
        await none.join(others, { on: "n", how: "full" }).select("n", "u").takeAll(),
      ]) {
        expect(texts(found)).toEqual(texts(three.map(({ n, t }) => ({ n, u: t }))));
      }
    });
  });

  test("[A9] a join with one key in half of the rows", async () => {
    const left = ids(20_000).map((row) => ({ id: row.id, k: row.id % 2 === 0 ? 0 : row.id % 500 }));
    const right = s.range(500, { overrideNumBlocks: 2 }).map((row) => ({ k: row.id, twice: row.id * 2 }));
    const { n, sum } = await left.join(right, { on: "k" }).agg({ n: count(), sum: col("twice").sum() });
    let expected = 0;
    for (let id = 0; id < 20_000; id++) expected += id % 2 === 0 ? 0 : 2 * (id % 500);
    expect({ n, sum }).toEqual({ n: 20_000, sum: expected });
    expect(
      await left
        .join(left.rename({ id: "other" }), { on: "k" })
        .where(col("k").gt(0))
        .count(),
    ).toBe(250 * 40 * 40);
  });

  test("[A8] as many groups as rows, and groups of one row through functions", async () => {
    const groups = ids(20_000)
      .map((row) => ({ id: row.id, v: row.id % 7 }))
      .groupBy("id")
      .agg({ n: count(), v: col("v").max() });
    expect(await groups.agg({ n: count(), ones: col("n").sum(), v: col("v").sum() })).toEqual({
      n: 20_000,
      ones: 20_000,
      v: Array.from({ length: 20_000 }, (_, id) => id % 7).reduce((sum, v) => sum + v, 0),
    });
    const single = ids(2_000)
      .groupBy("id")
      .mapGroups((group) => ({ id: [group.id[0] ?? -1], size: [group.id.length] }));
    expect(await single.agg({ n: count(), most: col("size").max() })).toEqual({ n: 2_000, most: 1 });
  });

  test("[A9] a sort of keys that are all equal, all null, and of a megabyte", async () => {
    expect(
      await ids(5_000)
        .map((row) => ({ id: row.id, k: 3 }))
        .sort("k")
        .sum("id"),
    ).toBe((5_000 * 4_999) / 2);
    const nulls = ids(5_000).map((row): { id: number; k: number | null } => ({ id: row.id, k: null }));
    expect((await nulls.sort(["k", "id"], { descending: [false, true] }).take(2)).map((row) => row.id)).toEqual([
      4_999, 4_998,
    ]);
    const mixed = ids(1_000).map((row) => ({ k: row.id % 3 === 0 ? null : row.id }));
    const first = await mixed.sort("k", { descending: true, nulls: "first" }).takeAll();
    expect(first.slice(0, 334).every(({ k }) => k === null)).toBe(true);
    expect(first.slice(334, 336).map(({ k }) => k)).toEqual([998, 997]);
    const long = s
      .range(12, { overrideNumBlocks: 3 })
      .map((row) => ({ id: row.id, text: "x".repeat(1 << 20) + String.fromCharCode(97 + ((row.id * 5) % 12)) }));
    const sorted = await long.sort("text").takeAll();
    expect(sorted.map(({ text }) => text.length)).toEqual(Array.from({ length: 12 }, () => (1 << 20) + 1));
    expect(sorted.map(({ text }) => text.at(-1)).join("")).toBe("abcdefghijkl");
  });

  test("[A9] a sort of keys whose type is not the same in all blocks", async () => {
    const whole = ids(400).map((row): { k: number | null } => ({ k: row.id }));
    const halves = ids(400).map((row) => ({ k: row.id % 5 === 0 ? null : row.id + 0.5 }));
    const none = ids(20).map((): { k: number | null } => ({ k: null }));
    expect([(await whole.schema()).toString(), (await halves.schema()).toString()]).toEqual(["k: BIGINT", "k: DOUBLE"]);
    const sorted = (await none.union(whole, halves).sort("k", { descending: true }).takeAll()).map(({ k }) => k);
    const values = sorted.filter((k) => k !== null);
    expect(values).toEqual([...values].sort((a, b) => b - a));
    expect([values.length, sorted.lastIndexOf(values.at(-1) ?? null)]).toEqual([720, 719]);
    const days = items([{ at: new Date("2024-01-02") }, { at: new Date("2024-01-04") }], { at: "DATE" });
    const times = items([{ at: new Date("2024-01-03T10:00:00Z") }, { at: new Date("2024-01-01T10:00:00Z") }]);
    const both = days.map((row) => ({ ...row })).union(times.map((row) => ({ ...row })));
    expect((await both.sort("at").takeAll()).map(({ at }) => new Date(at).getUTCDate())).toEqual([1, 2, 3, 4]);
  });

  test("[A8] [A9] null, NaN and -0 as keys: groups take them as values, joins take null as equal to nothing", async () => {
    const odd = [null, Number.NaN, Number.NaN, 0, -0, null, 1].map((k, id) => ({ k, id }));
    const source = items(odd, { k: "DOUBLE", id: "BIGINT" });
    for (const rows of [source, source.map((row) => ({ ...row }))]) {
      const sizes = await rows.groupBy("k").agg({ n: count() }).takeAll();
      const byKey = new Map(sizes.map(({ k, n }) => [String(k === 0 ? 0 : k), n]));
      expect([...byKey].sort()).toEqual([
        ["0", 2],
        ["1", 1],
        ["NaN", 2],
        ["null", 2],
      ]);
      expect(await rows.distinct("k").count()).toBe(4);
      const groups = await rows
        .groupBy("k")
        .mapGroups((group) => [{ size: group.length }], { batchFormat: "rows" })
        .takeAll();
      expect(groups.map(({ size }) => size).sort()).toEqual([1, 2, 2, 2]);
      const others = rows.rename({ id: "other" });
      expect(await rows.join(others, { on: "k" }).count()).toBe(4 + 4 + 1);
      expect(texts((await rows.join(others, { on: "k", how: "anti" }).takeAll()).map(({ id }) => id))).toEqual(
        texts([0, 5]),
      );
      const order = (await rows.sort("k").takeAll()).map(({ k }) => String(k === 0 ? 0 : k));
      expect(order).toEqual(["0", "0", "1", "NaN", "NaN", "null", "null"]);
    }
  });

  const large = 2n ** 60n;
  const typed: readonly (readonly [string, readonly unknown[]])[] = [
    ["VARCHAR", ["", "a", "zoë"]],
    ["DATE", [new Date("1969-01-01"), new Date("2024-02-29"), new Date("2025-01-01")]],
    ["TIMESTAMP", [new Date(-1), new Date(0), new Date(1_700_000_000_123)]],
    ["DECIMAL(20,4)", [-1.25, 0, 12.5]],
    ["BOOLEAN", [false, true]],
    ["BIGINT", [-large, large, large + 1n]],
    ["BLOB", [new Uint8Array([0]), new Uint8Array([0, 1]), new Uint8Array([255])]],
  ];
  test.each(typed)("[A8] [A9] keys of type %s", async (type, values) => {
    const rows = [...values, null, ...values].map((k, id) => ({ k, id }));
    const source = items(rows, { k: type, id: "BIGINT" });
    const keyOf = (k: unknown) =>
      k instanceof Uint8Array ? [...k].join() : k instanceof Date ? k.getTime() : String(k);
    const options = { int64: "bigint" } as const;
    const copied = source.map((row) => ({ ...row }), options);
    for (const ds of [source, copied]) {
      const groups = await ds.groupBy("k").agg({ n: count() }).takeAll(options);
      expect(groups.map(({ k, n }) => [keyOf(k), Number(n)]).sort()).toEqual(
        [...values.map((k) => [keyOf(k), 2]), ["null", 1]].sort(),
      );
      const sorted = await ds.sort("k", { descending: true }).takeAll(options);
      expect(sorted.map(({ k }) => keyOf(k))).toEqual(
        [...[...values].reverse().flatMap((k) => [k, k]), null].map(keyOf),
      );
      expect(await ds.join(ds.select("k"), { on: "k" }).count()).toBe(values.length * 4);
      const found = await ds
        .groupBy("k")
        .mapGroups((group) => [{ size: group.length }], { batchFormat: "rows", ...options })
        .takeAll();
      expect(found.length).toBe(values.length + 1);
    }
  });

  test("[A9] a join on several keys, of a dataset with itself, equal names, a union of joins", async () => {
    const source = items(Array.from({ length: 60 }, (_, i) => ({ a: i % 3, b: i % 5, v: i })));
    const pairs = await source.join(source, { on: ["a", "b"], suffix: "2" }).takeAll();
    expect(pairs.length).toBe(60 * 4);
    expect(Object.keys(pairs[0] ?? {})).toEqual(["a", "b", "v", "v2"]);
    expect(pairs.every(({ v, v2 }) => v % 15 === v2 % 15)).toBe(true);
    await expect(
      source
        .withColumn("v_right", col("v"))
        .join(source, { on: ["a", "b"] })
        .takeAll(),
    ).rejects.toThrow('two columns would be called "v_right"');
    const crossed = await source.limit(2).join(source.limit(3), { leftOn: "a", rightOn: "b" }).takeAll();
    expect(Object.keys(crossed[0] ?? {})).toEqual(["a", "b", "v", "a_right", "v_right"]);
    const low = source.where(col("v").lt(10));
    const both = low
      .join(source.select("v"), { on: "v" })
      .union(
        low.join(source.select("v"), { on: "v", how: "semi" }),
        low.join(low.select("v"), { on: "v", how: "anti" }),
      );
    expect((await both.sort("v").takeAll()).map(({ v }) => v)).toEqual(
      Array.from({ length: 20 }, (_, i) => Math.floor(i / 2)),
    );
  });

  test("[A9] after a sort functions, conditions and limits keep the order; so do windows and files", async () => {
    const shuffled = ids(3_000).map((row) => ({ id: (row.id * 7) % 3_000 }));
    const kept = shuffled
      .sort("id", { descending: true })
      .map((row) => ({ id: row.id }))
      .where(col("id").lt(2_990));
    expect((await kept.take(3)).map(({ id }) => id)).toEqual([2_989, 2_988, 2_987]);
    expect((await kept.takeAll()).map(({ id }) => id)).toEqual(Array.from({ length: 2_990 }, (_, i) => 2_989 - i));
    expect((await shuffled.sort("id").offset(10).limit(3).takeAll()).map(({ id }) => id)).toEqual([10, 11, 12]);
    expect(
      (await shuffled.sort("id").repartition({ targetBytes: "1 KiB" }).repartition(3).takeAll()).map(({ id }) => id),
    ).toEqual(Array.from({ length: 3_000 }, (_, i) => i));
    const windows = ids(40)
      .map((row) => ({ id: row.id }))
      .window({ blocks: 2 })
      .foreachWindow((window) => window.sort("id", { descending: true }));
    const seen = (await windows.takeAll()).map(({ id }) => id);
    expect(seen.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => 19 - i));
    expect(seen.slice(20)).toEqual(Array.from({ length: 20 }, (_, i) => 39 - i));
  });

  test("[A8] a group larger than a block, as a stream of batches; it need not be read to its end", async () => {
    const source = ids(20_000).map((row) => ({ id: row.id, k: row.id % 10 === 0 ? 1 : 0, text: "x".repeat(50) }));
    const streamed = source.groupBy("k").mapGroups(
      async (batches) => {
        let rows = 0;
        let most = 0;
        let k = -1;
        for await (const batch of batches) {
          rows += batch.id.length;
          most = Math.max(most, batch.id.length);
          k = batch.k[0] ?? k;
        }
        return { k: [k], rows: [rows], most: [most] };
      },
      { stream: true, batchSize: 100 },
    );
    expect(texts(await streamed.takeAll())).toEqual(
      texts([
        { k: 0, rows: 18_000, most: 100 },
        { k: 1, rows: 2_000, most: 100 },
      ]),
    );
    const first = source.groupBy("k").mapGroups(
      async (batches) => {
        for await (const batch of batches) return { size: [batch.id.length] };
        return { size: [0] };
      },
      { stream: true, batchSize: 10 },
    );
    expect(await first.takeAll()).toEqual([{ size: 10 }, { size: 10 }]);
  });

  test("[D8] `ds.intoPartitions(2 * await ds.numPartitions())` halves each, after relational work, too", async () => {
    const sorted = await ids(1_000).sort("id", { descending: true }).repartition(3).materialize();
    const doubled = await sorted.intoPartitions(2 * (await sorted.numPartitions())).materialize();
    expect([await sorted.numPartitions(), await doubled.numPartitions()]).toEqual([3, 6]);
    expect((await doubled.takeAll()).map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_, i) => 999 - i));
    sorted.dispose();
    doubled.dispose();
  });
});

test("[A9] one worker is enough for any number of exchanges", async () => {
  const s: Session = sessions.open({ exchange: true, workers: 1 });
  const source = s.range(500, { overrideNumBlocks: 3 }).map((row) => ({ id: row.id, k: row.id % 7 }));
  const sorted = source.sort("k");
  const joined = sorted.join(sorted.where(col("id").lt(100)), { on: "id", how: "semi" });
  expect(await joined.sort("id").repartition({ targetBytes: "1 KiB" }).count()).toBe(100);
});
