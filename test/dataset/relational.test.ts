/** Groups, joins, orders and partitions as they are written: the plans they build, and what is refused at once. */
import { afterAll, describe, expect, test } from "vitest";
import { insideOf } from "../../src/dataset/core.ts";
import { col, count, type Dataset, fromItems, lit, range } from "../../src/dataset/index.ts";
import { OptionError } from "../../src/errors/index.ts";
import { planLines } from "../../src/plan/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const engine = new InProcessEngine();
afterAll(() => engine.close());
const trips = fromItems(engine, [
  { id: 1, city: "Oslo", fare: 7.5 as number | null },
  { id: 2, city: "Rome", fare: null },
]);
const cities = fromItems(engine, [{ name: "Oslo", id: 10 }]);
const lines = (dataset: Dataset) =>
  planLines(insideOf(dataset).plan)
    .filter((line) => !line.includes("fromItems"))
    .map((line) => line.trim());

describe("[A8] groups", () => {
  test("[A8] agg takes aggregates, and expressions over them, by name", () => {
    const groups = trips.groupBy("city", col("id").modulo(2).as("odd")).agg({
      n: count(),
      total: col("fare").sum().where(col("id").gt(1)).where(col("id").lt(9)),
      share: col("fare").sum().divide(col("id").sum()),
      spread: col("fare").std(),
      middle: col("fare").median(),
      high: col("fare").quantile(0.9),
      kinds: col("fare").countDistinct(),
    });
    expect(lines(groups)).toEqual([
      `groupBy "city", ("id" % 2) AS "odd": count(*) AS "n", sum("fare") FILTER (WHERE (("id" > 1) AND ("id" < 9))) AS "total", (sum("fare") / sum("id")) AS "share", stddev_samp("fare") AS "spread", quantile_cont("fare", CAST('0.5' AS DOUBLE)) AS "middle", quantile_cont("fare", CAST('0.9' AS DOUBLE)) AS "high", count(DISTINCT "fare") AS "kinds"`,
    ]);
  });

  test("[A8] without keys all rows are one group, and a dataset of one row", async () => {
    expect(
      await trips
        .groupBy()
        .agg({ n: count(), most: col("id").max() })
        .takeAll(),
    ).toEqual([{ n: 2, most: 2 }]);
  });

  test("[A8] shortcuts name their columns as the input does", () => {
    expect(lines(trips.groupBy("city").count())).toEqual([`groupBy "city": count(*) AS "count"`]);
    expect(lines(trips.groupBy("city").sum("fare", "id"))).toEqual([
      `groupBy "city": sum("fare") AS "fare", sum("id") AS "id"`,
    ]);
    expect(lines(trips.groupBy("city").median("fare"))[0]).toContain("quantile_cont");
  });

  test("[A8] mapGroups has its keys and its options; a computed key is a column", () => {
    const groups = trips
      .groupBy("city", col("id").modulo(2).as("odd"))
      .mapGroups((group) => ({ n: [group.id.length] }), { columns: ["id"] });
    expect(lines(groups)).toEqual(["mapGroups by city, odd reads id", `groupBy ("id" % 2) AS "odd"`]);
    const { plan } = insideOf(trips.groupBy("city").mapGroups((rows) => rows, { batchFormat: "rows", stream: false }));
    expect(plan).toMatchObject({ form: "mapGroups", options: { keys: ["city"], stream: false, batchFormat: "rows" } });
    const streamed = insideOf(
      trips.groupBy("city").mapGroups(
        async function* (batches) {
          for await (const batch of batches) yield { n: [batch.id.length] };
        },
        { stream: true, batchSize: 10 },
      ),
    );
    expect(streamed.plan).toMatchObject({ fn: { columns: null }, options: { stream: true, batchSize: 10 } });
  });

  test("[A8] what cannot be meant is refused where it is written", () => {
    const wrong: readonly (readonly [() => unknown, string])[] = [
      [() => trips.groupBy().mapGroups((group) => group), "mapGroups: groupBy names no key."],
      [() => trips.groupBy("city", "city"), 'groupBy: "city" is given twice.'],
      [() => trips.groupBy("city").agg({}), "agg: name at least one aggregate"],
      [() => trips.groupBy("city").agg({ city: count() }), 'agg: two columns would be called "city"'],
      [() => trips.groupBy("city").agg({ n: 1 as never }), 'agg: "n" is 1; it must be an expression over aggregates'],
      [() => trips.groupBy("city").sum("city"), 'sum: two columns would be called "city"'],
      [() => trips.groupBy("city").sum(), "sum: name at least one column."],
      [() => col("a").quantile(1.5), "quantile: the fraction is 1.5; it must be from 0 to 1."],
      [() => col("a").quantile(Number.NaN), "quantile: the fraction is NaN"],
      [() => trips.groupBy("city").mapGroups((rows) => rows, { straem: true } as never), 'Did you mean "stream"?'],
      [() => trips.mapBatches((batch) => batch, { stream: true } as never), 'there is no option "stream"'],
    ];
    for (const [build, message] of wrong) {
      expect(build).toThrow(OptionError);
      expect(build).toThrow(message);
    }
  });

  test("[A8] whole-dataset aggregates name what they were given", async () => {
    await expect(trips.sum("" as never)).rejects.toThrow("sum: the column is");
    await expect(trips.quantile("fare", 2)).rejects.toThrow("quantile: the fraction is 2");
    await expect(trips.sum("fair" as never)).rejects.toThrow('"fair"');
  });
});

describe("[A9] joins, orders, partitions", () => {
  test("[A9] join: keys by one name or by two", () => {
    expect(lines(trips.join(cities, { on: "id", how: "left" }))).toEqual(["left join on id"]);
    expect(lines(trips.join(cities, { leftOn: ["city"], rightOn: "name" }))).toEqual(["inner join on city = name"]);
    expect(lines(trips.join(cities, { how: "cross", suffix: "2" }))).toEqual(["cross join"]);
    expect(insideOf(trips.join(cities, { on: "id" })).plan).toMatchObject({
      leftOn: ["id"],
      rightOn: ["id"],
      suffix: "_right",
    });
  });

  test("[A9] sort: one key or several, each its own way, nulls last unless told", () => {
    expect(lines(trips.sort("city"))).toEqual([`sort by "city"`]);
    expect(lines(trips.sort(["city", col("fare").abs()], { descending: [true, false], nulls: "first" }))).toEqual([
      `sort by "city" descending nulls first, abs("fare") nulls first`,
    ]);
    expect(insideOf(trips.sort("city", { descending: true })).plan).toMatchObject({
      keys: [{ descending: true, nulls: "last" }],
    });
  });

  test("[A9] shuffle, repartition, distinct, zip", () => {
    expect(lines(trips.randomShuffle({ seed: 7 }))).toEqual(["randomShuffle (seed 7)"]);
    expect(lines(trips.randomShuffle())).not.toEqual(lines(trips.randomShuffle()));
    expect(lines(trips.repartition(4))).toEqual(["repartition into 4"]);
    expect(lines(trips.repartition({ targetRows: 10 }))).toEqual(["repartition by 10 rows"]);
    expect(lines(trips.repartition({ targetBytes: "64 MiB" }))).toEqual(["repartition by 64.0 MiB"]);
    expect(lines(trips.repartition({ keys: ["city", "id"], count: 3 }))).toEqual(["repartition by city, id into 3"]);
    expect(lines(trips.intoPartitions(2).distinct("city").distinct().zip(cities))).toEqual([
      "zip",
      "distinct rows",
      "distinct city",
      "repartition into 2",
    ]);
  });

  test("[A9] what cannot be meant is refused where it is written", () => {
    const other = new InProcessEngine();
    const wrong: readonly (readonly [() => unknown, string])[] = [
      [() => trips.join(cities, {} as never), "join: name the keys"],
      [() => trips.join(cities, { on: "id", leftOn: "id" } as never), "join: give either on, or leftOn and rightOn."],
      [() => trips.join(cities, { leftOn: "id" } as never), "join: name the keys"],
      [() => trips.join(cities, { leftOn: ["id", "city"], rightOn: ["id"] }), "leftOn names 2 keys and rightOn 1"],
      [() => trips.join(cities, { on: "id", how: "outer" } as never), 'join: how is "outer"'],
      [() => trips.join(cities, { on: "id", how: "cross" } as never), "a cross join pairs every row with every row"],
      [() => trips.join(cities, { on: "id", sufix: "x" } as never), 'Did you mean "suffix"?'],
      [() => trips.join({} as never, { on: "id" }), "join: an object is not a dataset."],
      [
        () => trips.join(fromItems(other, [{ id: 1 }]), { on: "id" }),
        "join: the datasets belong to different sessions.",
      ],
      [() => trips.sort([]), "sort: name at least one key."],
      [() => trips.sort("city", { descending: [true, false] }), "descending has 2 values for 1 keys"],
      [() => trips.sort("city", { descending: "yes" as never }), 'sort: descending is "yes"'],
      [() => trips.sort("city", { nulls: "middle" as never }), 'sort: nulls is "middle"'],
      [() => trips.sort(3 as never), "sort: 3 is neither a name nor an expression."],
      [() => trips.distinct("city", "city"), 'names "city" twice'],
      [() => trips.randomShuffle({ seed: -1 }), "randomShuffle: seed is -1"],
      [() => trips.repartition(0), "the number of partitions is 0; it must be a whole number above 0."],
      [() => trips.repartition(Number.NaN), "the number of partitions is NaN"],
      [() => trips.intoPartitions(-2), "intoPartitions: the number of partitions is -2"],
      [() => trips.repartition({ targetRows: 0 }), "repartition: targetRows is 0"],
      [() => trips.repartition({ targetBytes: 0 }), "repartition: targetBytes is 0"],
      [() => trips.repartition({ targetRows: 1, targetBytes: 1 } as never), "give a number, or one of"],
      [() => trips.repartition({ targetRows: 1, count: 2 } as never), "count needs keys"],
      [() => trips.repartition({ keys: [] }), "repartition: keys must be a list of column names"],
      [() => trips.repartition("4" as never), 'repartition: "4" is neither a number nor options.'],
      [() => trips.randomShuffle().window({ blocks: 1 }), "window: randomShuffle needs the whole dataset"],
      [() => trips.groupBy("city").count().window({ blocks: 1 }), "window: groupBy needs the whole dataset"],
      [
        () =>
          trips
            .groupBy("city")
            .mapGroups((g) => g)
            .window({ blocks: 1 }),
        "window: mapGroups needs the whole dataset",
      ],
    ];
    for (const [build, message] of wrong) {
      expect(build).toThrow(OptionError);
      expect(build).toThrow(message);
    }
    other.close();
  });

  test("[A9] split: equally many rows, in order, whatever the blocks", async () => {
    const parts = await range(engine, 10).split(3);
    const ids = await Promise.all(parts.map(async (part) => (await part.takeAll()).map(({ id }) => id)));
    expect(ids).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6],
      [7, 8, 9],
    ]);
    const [first, second, third] = await range(engine, 2).split(3);
    expect([await first?.count(), await second?.count(), await third?.count()]).toEqual([1, 1, 0]);
    expect((await third?.schema())?.names).toEqual(["id"]);
    await expect(range(engine, 2).split(0)).rejects.toThrow("split: the number of parts is 0");
  });

  test("[A9] parts share blocks, and the last one to go frees them", async () => {
    const released: unknown[] = [];
    const release = engine.release.bind(engine);
    engine.release = (blocks) => {
      released.push(...blocks);
      release(blocks);
    };
    const [one, two] = await range(engine, 10, { overrideNumBlocks: 1 }).split(2);
    const before = released.length;
    one?.dispose();
    expect(released).toHaveLength(before);
    expect((await two?.takeAll())?.map(({ id }) => id)).toEqual([5, 6, 7, 8, 9]);
    const beforeLast = released.length;
    two?.dispose();
    expect(released).toHaveLength(beforeLast + 1);
    engine.release = release;
  });

  test("[A9] trainTestSplit: a fraction or a number of rows, the last ones", async () => {
    const { train, test: held } = await range(engine, 10).trainTestSplit({ testSize: 0.3 });
    expect([await train.count(), await held.count()]).toEqual([7, 3]);
    expect((await held.takeAll()).map(({ id }) => id)).toEqual([7, 8, 9]);
    const byRows = await range(engine, 10).trainTestSplit({ testSize: 4 });
    expect([await byRows.train.count(), await byRows.test.count()]).toEqual([6, 4]);
    for (const [options, message] of [
      [{ testSize: 0 }, "testSize is 0; it must be above 0 and below 1"],
      [{ testSize: 1.5 }, "testSize is 1.5"],
      [{ testSize: Number.NaN }, "testSize is NaN"],
      [{ testSize: 11 }, "testSize is 11 rows, but there are only 10"],
      [{ testSize: 0.5, seed: 1 }, "seed needs shuffle: true"],
      [{ testSize: 0.5, shufle: true } as never, 'Did you mean "shuffle"?'],
    ] as const) {
      await expect(range(engine, 10).trainTestSplit(options)).rejects.toThrow(message);
    }
  });

  test("[A9] numPartitions: of a read its tasks, of a result its blocks, of a repartition as many as asked for", async () => {
    const ten = range(engine, 10, { overrideNumBlocks: 5 }).where(col("id").ge(0));
    expect(await ten.numPartitions()).toBe(5);
    expect(await ten.intoPartitions(2 * (await ten.numPartitions())).numPartitions()).toBe(10);
    expect(await ten.repartition(7).numPartitions()).toBe(7);
    expect(
      await ten
        .repartition(7)
        .map((row) => row)
        .numPartitions(),
    ).toBe(7);
    expect(await trips.union(trips).numPartitions()).toBe(2);
    const kept = await trips.union(trips).materialize();
    expect(await kept.numPartitions()).toBe(kept.numBlocks);
    expect(await trips.repartition({ targetRows: 1 }).numPartitions()).toBe(2);
    expect(await trips.withColumn("x", lit(1)).numPartitions()).toBe(1);
  });

  test("[A9] an order or other partitions change no count", async () => {
    expect(await range(engine, 10).where(col("id").gt(4)).sort("id").randomShuffle().repartition(3).count()).toBe(5);
  });
});
