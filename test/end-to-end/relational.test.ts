/**
 * Groups, joins, orders and partitions in real sessions: as one query over the sources, over the rows of functions, and
 * as exchanges between workers. What each gives is compared with the same computed here.
 */
import { join } from "node:path";
import { type AnyRow, col, count, type Dataset } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("relational");
const wide = sessions.open();
const exchanging = sessions.open({ exchange: true });

interface Trip {
  id: number;
  city: string | null;
  fare: number | null;
}
const trips: readonly Trip[] = Array.from({ length: 200 }, (_, id) => ({
  id,
  // One key in half of the rows, and some of none.
  city: id % 2 === 0 ? "Oslo" : id % 7 === 0 ? null : `city ${id % 13}`,
  fare: id % 5 === 0 ? null : (id * 37) % 101,
}));
const cities = ["Oslo", "city 1", "city 3", "Bern", null].map((city, i) => ({ city, zip: i * 10 }));

type Form = <R extends AnyRow>(dataset: Dataset<R>) => Dataset<R>;
const forms: readonly (readonly [string, typeof wide, Form])[] = [
  ["one query", wide, (dataset) => dataset],
  ["after a function", wide, (dataset) => dataset.map((row) => ({ ...row }))],
  ["exchanged", exchanging, (dataset) => dataset.map((row) => ({ ...row }))],
];

const sum = (values: readonly number[]) => values.reduce((total, each) => total + each, 0);
const present = (rows: readonly Trip[]) => rows.map(({ fare }) => fare).filter((fare) => fare !== null);
const inOrder = <R>(rows: readonly R[]) => rows.map((row) => JSON.stringify(row)).sort();

describe.each(forms)("%s", (_, session, form) => {
  const source = () => form(session.fromItems([...trips], { overrideNumBlocks: 4 }));
  const others = () => form(session.fromItems(cities));
  const none = () => source().where(col("id").lt(0));

  test("[A8] groups and their aggregates", async () => {
    const groups = await source()
      .groupBy("city")
      .agg({
        n: count(),
        fares: col("fare").count(),
        total: col("fare").sum(),
        low: col("fare").min(),
        high: col("fare").max().where(col("id").lt(100)),
        per: col("fare").sum().divide(count()),
        middle: col("fare").median(),
        kinds: col("fare").countDistinct(),
        ids: col("id").list(),
      })
      .takeAll();
    const keys = [...new Set(trips.map(({ city }) => city))];
    expect(groups.map(({ city }) => city).sort()).toEqual([...keys].sort());
    for (const group of groups) {
      const own = trips.filter(({ city }) => city === group.city);
      const fares = present(own);
      const early = present(own.filter(({ id }) => id < 100));
      expect(group).toMatchObject({
        n: own.length,
        fares: fares.length,
        total: fares.length === 0 ? null : sum(fares),
        low: fares.length === 0 ? null : Math.min(...fares),
        high: early.length === 0 ? null : Math.max(...early),
        kinds: new Set(fares).size,
      });
      expect(group.per).toBeCloseTo(sum(fares) / own.length, 10);
      const sorted = fares.toSorted((a, b) => a - b);
      const at = (sorted.length - 1) / 2;
      expect(group.middle).toBeCloseTo(((sorted[Math.floor(at)] ?? 0) + (sorted[Math.ceil(at)] ?? 0)) / 2, 10);
      expect([...group.ids].sort((a, b) => a - b)).toEqual(own.map(({ id }) => id));
    }
  });

  test("[A8] keys and aggregates in one expression, computed keys, as many groups as rows", async () => {
    const parity = await source()
      .groupBy(col("id").modulo(2).as("odd"))
      .agg({ next: col("odd").add(count()) })
      .sort("odd")
      .takeAll();
    expect(parity).toEqual([
      { odd: 0, next: 100 },
      { odd: 1, next: 101 },
    ]);
    expect(await source().groupBy("id").count().count()).toBe(200);
  });

  test("[A8] groups whole through functions: columns, rows, streams, classes, computed keys", async () => {
    const sizes = new Map<string | null, number>();
    for (const { city } of trips) sizes.set(city, (sizes.get(city) ?? 0) + 1);
    const expected = inOrder([...sizes].map(([city, n]) => ({ city, n })));
    const byCity = () => source().groupBy("city");
    const columns = byCity().mapGroups((group) => ({ city: [group.city[0] ?? null], n: [group.id.length] }));
    expect(inOrder(await columns.takeAll())).toEqual(expected);
    const rows = byCity().mapGroups((group) => [{ city: group[0]?.city ?? null, n: group.length }], {
      batchFormat: "rows",
    });
    expect(inOrder(await rows.takeAll())).toEqual(expected);
    const streamed = byCity().mapGroups(
      async (batches) => {
        let n = 0;
        let city: string | null = null;
        for await (const batch of batches) {
          city = batch.city[0] ?? null;
          n += batch.id.length;
        }
        return { city: [city], n: [n] };
      },
      { stream: true, batchSize: 7 },
    );
    expect(inOrder(await streamed.takeAll())).toEqual(expected);
    class Times {
      readonly by: number;
      constructor(by: number) {
        this.by = by;
      }
      call(group: { odd: ArrayLike<number>; id: ArrayLike<number> }) {
        return { odd: [group.odd[0] ?? -1], n: [group.id.length * this.by] };
      }
    }
    const computed = source()
      .groupBy(col("id").modulo(2).as("odd"))
      .mapGroups(Times, { constructorArgs: [10] })
      .sort("odd");
    expect(await computed.takeAll()).toEqual([
      { odd: 0, n: 1000 },
      { odd: 1, n: 1000 },
    ]);
    expect(
      await none()
        .groupBy("city")
        .mapGroups((group) => ({ n: [group.id.length] }))
        .takeAll(),
    ).toEqual([]);
  });

  test("[A8] values of all rows, and of none", async () => {
    const fares = present(trips);
    expect(await source().sum("fare")).toBe(sum(fares));
    expect(await source().mean("fare")).toBeCloseTo(sum(fares) / fares.length, 10);
    expect(await source().max(col("fare").negate())).toBe(-Math.min(...fares));
    expect(await source().countDistinct("city")).toBe(new Set(trips.map(({ city }) => city)).size - 1);
    expect(await none().agg({ n: count(), total: col("fare").sum(), kinds: col("city").countDistinct() })).toEqual({
      n: 0,
      total: null,
      kinds: 0,
    });
    expect(await none().groupBy("city").count().takeAll()).toEqual([]);
  });

  test("[A9] joins of every kind", async () => {
    const pairs = trips.flatMap((trip) =>
      cities.filter(({ city }) => city !== null && city === trip.city).map(({ zip }) => ({ ...trip, zip })),
    );
    const lonely = trips.filter(({ city }) => !pairs.some((pair) => pair.city === city));
    const left = lonely.map((trip) => ({ ...trip, zip: null }));
    const right = cities
      .filter(({ city }) => !pairs.some((pair) => pair.city === city))
      .map(({ city, zip }) => ({ id: null, city, fare: null, zip }));
    const rows = async (how: "inner" | "left" | "right" | "full" | "semi" | "anti") =>
      inOrder(await source().join(others(), { on: "city", how }).takeAll());
    expect(await rows("inner")).toEqual(inOrder(pairs));
    expect(await rows("left")).toEqual(inOrder([...pairs, ...left]));
    expect(await rows("right")).toEqual(inOrder([...pairs, ...right]));
    expect(await rows("full")).toEqual(inOrder([...pairs, ...left, ...right]));
    expect(await rows("semi")).toEqual(inOrder(trips.filter((trip) => !lonely.includes(trip))));
    expect(await rows("anti")).toEqual(inOrder(lonely));
    expect(await source().join(others(), { how: "cross" }).count()).toBe(trips.length * cities.length);
    expect(await none().join(others(), { on: "city", how: "right" }).count()).toBe(cities.length);
    expect(await source().join(none(), { on: "city", how: "anti" }).count()).toBe(trips.length);
  });

  test("[A9] keys of other names: the right's go, in right and full joins they stand in for missing ones", async () => {
    const towns = others().rename({ city: "town" });
    const named = source().where(col("id").eq(1)).join(towns, { leftOn: "city", rightOn: "town", how: "full" });
    expect(inOrder(await named.takeAll())).toEqual(
      inOrder(
        cities.map(({ city, zip }) => ({
          id: city === "city 1" ? 1 : null,
          city,
          fare: city === "city 1" ? 37 : null,
          zip,
        })),
      ),
    );
  });

  test("[A9] a sort by several keys, each its own way, nulls where they are wanted", async () => {
    const compare = (a: Trip, b: Trip) => {
      if (a.fare !== b.fare) return a.fare === null ? 1 : b.fare === null ? -1 : b.fare - a.fare;
      return a.id - b.id;
    };
    const rows = await source()
      .sort(["fare", "id"], { descending: [true, false] })
      .takeAll();
    expect(rows).toEqual(trips.toSorted(compare));
    expect(await source().sort("fare").limit(1).take(1)).toMatchObject([{ fare: Math.min(...present(trips)) }]);
    expect(
      (await source().sort("fare", { descending: true, nulls: "first" }).take(40)).every(({ fare }) => fare === null),
    ).toBe(true);
    expect(await none().sort("fare").takeAll()).toEqual([]);
  });

  test("[A6] distinct rows and distinct columns", async () => {
    expect((await source().select("city").distinct().takeAll()).map(({ city }) => city).sort()).toEqual(
      [...new Set(trips.map(({ city }) => city))].sort(),
    );
    const one = await source().distinct("fare").takeAll();
    expect(one).toHaveLength(new Set(trips.map(({ fare }) => fare)).size);
    for (const row of one) expect(trips).toContainEqual(row);
  });

  test("[A9] a shuffle gives all rows, the same way for the same seed", async () => {
    const ids = async (seed: number) => (await source().randomShuffle({ seed }).takeAll()).map(({ id }) => id);
    const first = await ids(7);
    expect(first).not.toEqual(trips.map(({ id }) => id));
    expect(first.toSorted((a, b) => a - b)).toEqual(trips.map(({ id }) => id));
    expect(await ids(7)).toEqual(first);
    expect(await ids(8)).not.toEqual(first);
  });

  test("[D8] twice as many partitions, each half as large", async () => {
    const ds = source();
    const doubled = await ds.intoPartitions(2 * (await ds.numPartitions())).materialize();
    expect([await ds.numPartitions(), await doubled.numPartitions()]).toEqual([4, 8]);
    const sizes: number[] = [];
    for await (const part of doubled.window({ blocks: 1 }).iterWindows()) sizes.push(await part.count());
    expect(sizes).toEqual(Array.from({ length: 8 }, () => 25));
    expect(await ds.repartition({ targetRows: 60 }).count()).toBe(200);
  });

  test("[A6] a zip that is joined with nothing, or with few rows, is no zip of different lengths", async () => {
    const numbers = (n: number) => form(session.range(n, { overrideNumBlocks: 3 }));
    const none = numbers(3).where(col("id").gt(5));
    for (const n of [1, 2048, 6000]) {
      const side = (name: string) => numbers(n).rename({ id: name });
      // Nothing is left of the first rows that the kernel reads.
      const late = (name: string) => side(name).where(col(name).ge(n - 1));
      for (const zipped of [side("id").zip(side("other")), late("id").zip(late("other"))]) {
        const rows = await zipped.count();
        const counts = async (other: typeof none) =>
          Promise.all(
            (["inner", "semi", "anti", "left", "right", "full"] as const).map((how) =>
              zipped.join(other, { on: "id", how }).count(),
            ),
          );
        expect(await counts(none)).toEqual([0, 0, rows, rows, 0, rows]);
        expect(await none.join(zipped, { on: "id" }).count()).toBe(0);
        expect(await zipped.join(none.rename({ id: "third" }), { how: "cross" }).count()).toBe(0);
        const last = numbers(n).where(col("id").eq(n - 1));
        expect(await counts(last)).toEqual([1, 1, rows - 1, rows, 1, rows]);
      }
    }
    const uneven = numbers(0).zip(numbers(2).rename({ id: "other" }));
    await expect(uneven.join(numbers(3), { on: "id" }).count()).rejects.toThrow("zip: the right dataset has more rows");
  });

  test("[A6] what needs a few of the rows of a zip gets them, and only sides of different lengths are an error", async () => {
    const numbers = (n: number) => form(session.range(n, { overrideNumBlocks: 3 }));
    const side = numbers(6000).rename({ id: "other" });
    const zipped = numbers(6000).zip(side);
    expect(await zipped.take(3)).toEqual([0, 1, 2].map((id) => ({ id, other: id })));
    const late = zipped.filter(col("id").gt(4000)).limit(3);
    expect(await late.takeAll()).toEqual([4001, 4002, 4003].map((id) => ({ id, other: id })));
    expect(await zipped.join(numbers(3).where(col("id").gt(5)), { on: "id" }).count()).toBe(0);
    expect(await zipped.count()).toBe(6000);
    for (const [left, right] of [
      [5000, 6000],
      [1, 6000],
      [0, 6000],
    ] as const) {
      const more = (name: string) => `zip: the ${name} dataset has more rows than the other`;
      await expect(
        numbers(left)
          .zip(numbers(right).rename({ id: "other" }))
          .takeAll(),
      ).rejects.toThrow(more("right"));
      await expect(
        numbers(right)
          .zip(numbers(left).rename({ id: "other" }))
          .takeAll(),
      ).rejects.toThrow(more("left"));
    }
    expect(
      await numbers(0)
        .zip(numbers(0).rename({ id: "other" }))
        .takeAll(),
    ).toEqual([]);
  });

  test("[A9] rows side by side, in parts, and for a test", async () => {
    const rows = await source().select("id").zip(source().select("id", "fare")).sort("id").takeAll();
    expect(rows).toEqual(trips.map(({ id, fare }) => ({ id, id_right: id, fare })));
    const parts = await source().sort("id").split(3);
    expect(await Promise.all(parts.map((part) => part.count()))).toEqual([67, 67, 66]);
    const { train, test: held } = await source().trainTestSplit({ testSize: 0.25, shuffle: true, seed: 1 });
    expect([await train.count(), await held.count()]).toEqual([150, 50]);
    const ids = [...(await train.takeAll()), ...(await held.takeAll())].map(({ id }) => id);
    expect(ids.toSorted((a, b) => a - b)).toEqual(trips.map(({ id }) => id));
  });
});

test("[A9] a right column whose name the left has gets the suffix", async () => {
  const left = wide.fromItems([{ k: 1, v: "left" }]);
  const right = wide.fromItems([{ k: 1, v: "right" }]);
  expect(await left.join(right, { on: "k" }).takeAll()).toEqual([{ k: 1, v: "left", v_right: "right" }]);
  expect(await left.join(right, { how: "cross", suffix: "2" }).takeAll()).toEqual([
    { k: 1, v: "left", k2: 1, v2: "right" },
  ]);
});

test("[A9] that suffix is the same whether the columns are known or come out of functions", async () => {
  const left = [1, 2, 3, 4, 5].map((k) => ({ k, v: `left ${k}`, w: k * 2 }));
  const right = [3, 4, 5, 6, 7].map((k) => ({ k, v: `right ${k}`, w: k * 3, x: k }));
  for (const session of [wide, exchanging]) {
    const rowsOf = async (form: Form, how: "inner" | "left" | "right" | "full") => {
      const [a, b] = [form(session.fromItems(left)), form(session.fromItems(right))];
      const once = a.join(b, { on: "k", how });
      return once.join(b.select("k", "v"), { on: "k", how, suffix: "3" }).sort("k").takeAll();
    };
    for (const how of ["inner", "left", "right", "full"] as const) {
      const known = await rowsOf((dataset) => dataset, how);
      expect(Object.keys(known[0] ?? {})).toEqual(["k", "v", "w", "v_right", "w_right", "x", "v3"]);
      expect(await rowsOf((dataset) => dataset.map((row) => ({ ...row })), how)).toEqual(known);
    }
  }
});

test("[D6] conditions, columns and limits reach the readers through joins, groups and unions", async () => {
  const directory = join(sessions.directory, "files");
  await wide.range(1000).select("id", col("id").modulo(7).as("k"), col("id").as("unused")).writeParquet(directory);
  const files = () => wide.readParquet<{ id: number; k: number; unused: number }>(directory);
  const groups = files()
    .join(files(), { on: "id", how: "left" })
    .groupBy("id")
    .agg({ top: col("k").max() });
  const text = await groups.where(col("id").eq(5)).explain();
  const best = text.slice(text.indexOf("Optimised plan"), text.indexOf("Physical plan"));
  expect(best.match(/columns: [^;\n]*; filter: \("id" = 5\)/g)).toEqual([
    'columns: id, k (2 of 3); filter: ("id" = 5)',
    'columns: id (1 of 3); filter: ("id" = 5)',
  ]);
  expect(await groups.where(col("id").eq(5)).takeAll()).toEqual([{ id: 5, top: 5 }]);
});

test("[A9] a sorted result that is kept is read back in its order, whole or in parts, through functions and conditions", async () => {
  const kept = await wide.range(200_000).sort("id", { descending: true }).materialize();
  const parts = await wide.range(50_000).sort("id", { descending: true }).split(2);
  for (let times = 0; times < 5; times++) {
    const rows = await kept
      .map((row) => ({ ...row }))
      .where(col("id").ge(0))
      .takeAll();
    expect(rows.every(({ id }, i) => id === 199_999 - i)).toBe(true);
    const [first] = parts;
    const half = (await first?.takeAll()) ?? [];
    expect(half.every(({ id }, i) => id === 49_999 - i)).toBe(true);
  }
  for (const held of [kept, ...parts]) held.dispose();
});

test("[A9] a side that a function gave no rows adds no column to a union after a shuffle", async () => {
  const none = wide
    .fromItems([{ f: null as number | null, s: 1 }])
    .mapBatches((batch) => batch)
    .randomShuffle({ seed: 1 });
  expect(await none.union(none.filter(col("f").gt(-10))).takeAll()).toEqual([{ f: null, s: 1 }]);
});

test("[A8] groups whose columns come back as whole numbers here and with nulls there meet in one type", async () => {
  const rows = [
    { k: 1, small: 7 },
    { k: 1, small: null as number | null },
    { k: 2, small: 3 },
  ];
  const grouped = wide
    .fromItems(rows, { schema: { k: "INTEGER", small: "TINYINT" } })
    .groupBy("k")
    .mapGroups((group) => ({ k: group.k, small: group.small }));
  const kept = await grouped.sample({ rows: 10, seed: 1 }).takeAll();
  expect(inOrder(kept)).toEqual(inOrder(rows));
});
