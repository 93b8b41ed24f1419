/** Row types of groups, joins and whole-dataset aggregates: `tsc -p test/tsconfig.json` is the test. */
import type { AnyRow, Dataset, MaterializedDataset } from "../../src/dataset/index.ts";
import { col, count, lit, sql } from "../../src/dataset/index.ts";
import { rowIs, test, valueIs, windowRowIs } from "./expected.ts";

interface Trip {
  id: number;
  city: string;
  fare: number | null;
  at: Date;
}
interface City {
  city: string;
  id: bigint;
  country: string | null;
}
declare const trips: Dataset<Trip>;
declare const cities: Dataset<City>;
declare const open: Dataset;

test("[A12] groupBy and agg compute the next row type", () => {
  rowIs<{ city: string; total: number; n: number; share: number }>()(
    trips.groupBy("city").agg({
      total: col("fare").sum(),
      n: count(),
      share: col("fare").sum().divide(col("id").sum()),
    }),
  );
  rowIs<{ city: string; year: number; last: Date; least: number | null; fares: (number | null)[]; one: string }>()(
    trips.groupBy("city", col("at").year().as("year")).agg({
      last: col("at").max(),
      least: col("fare").min(),
      fares: col("fare").list(),
      one: col("city").first(),
    }),
  );
  rowIs<{ city: string; spread: number | null; middle: number; kinds: number }>()(
    trips.groupBy("city").agg({
      spread: col("fare").std(),
      middle: col("fare").quantile(0.5),
      kinds: col("at").countDistinct().where(col("fare").gt(1)),
    }),
  );
  rowIs<{ year: number; next: number; n: number }>()(
    trips.groupBy(col("at").year().as("year")).agg({ next: col("year").add(1), n: count() }),
  );
  rowIs<{ city: string; odd: bigint }>()(trips.groupBy("city").agg({ odd: sql<bigint>("bit_xor(id)") }));
  rowIs<{ n: number }>()(trips.groupBy().agg({ n: count() }));
  // @ts-expect-error there is no such column
  trips.groupBy("cty");
  // @ts-expect-error there is no such column
  trips.groupBy(col("when").year().as("year"));
  // @ts-expect-error an expression needs a name
  trips.groupBy(col("at").year());
  // @ts-expect-error there is no such column
  trips.groupBy("city").agg({ total: col("fair").sum() });
  // @ts-expect-error there is no such column
  trips.groupBy("city").agg({ total: col("fare").sum().where(col("cty").eq("Oslo")) });
  // @ts-expect-error only an aggregate looks at some of the rows
  col("fare").where(lit(true));
});

test("[A12] shortcuts of groups", () => {
  rowIs<{ city: string; count: number }>()(trips.groupBy("city").count());
  rowIs<{ city: string; fare: number; id: number }>()(trips.groupBy("city").sum("fare", "id"));
  rowIs<{ city: string; at: Date }>()(trips.groupBy("city").max("at"));
  // @ts-expect-error there is no such column
  trips.groupBy("city").sum("fair");
});

test("[A12] groups go through functions as batches do", () => {
  const byCity = trips.groupBy("city");
  rowIs<{ n: number; city: string }>()(
    byCity.mapGroups((group) => ({ n: [group.id.length], city: [group.city.at(0) ?? ""] })),
  );
  rowIs<{ n: number }>()(byCity.mapGroups((rows) => [{ n: rows.length }], { batchFormat: "rows" }));
  rowIs<{ n: number }>()(
    byCity.mapGroups(
      async (batches) => {
        let n = 0;
        for await (const batch of batches) n += batch.id.length;
        return { n: [n] };
      },
      { stream: true },
    ),
  );
  rowIs<{ last: Date }>()(
    byCity.mapGroups(
      async function* (batches) {
        for await (const rows of batches) yield rows.map((row) => ({ last: row.at }));
      },
      { stream: true, batchFormat: "rows" },
    ),
  );
  class Fit {
    constructor(readonly rate: number) {}
    call(group: { id: ArrayLike<number> }) {
      return { score: [group.id.length * this.rate] };
    }
  }
  rowIs<{ score: number }>()(byCity.mapGroups(Fit, { constructorArgs: [0.5] }));
  const byYear = trips.groupBy(col("at").year().as("year"));
  rowIs<{ year: number; n: number }>()(
    byYear.mapGroups((group) => ({ year: [group.year.at(0) ?? 0], n: [group.id.length] })),
  );
  rowIs<{ year: number; city: string }>()(
    byYear.mapGroups((rows) => rows.map(({ year, city }) => ({ year, city })), { batchFormat: "rows" }),
  );
  open.groupBy("x").mapGroups((group) => ({ n: [group.anything.length as number] }));
  // @ts-expect-error there is no such column
  byCity.mapGroups((group) => ({ n: [group.nope.length] }));
});

test("[A12] joins: columns of both, nullable where a side may be missing", () => {
  rowIs<{ id: number; city: string; fare: number | null; at: Date; id_right: bigint; country: string | null }>()(
    trips.join(cities, { on: "city" }),
  );
  const few = trips.select("id", "fare", "city");
  const names = cities.select("city", "id").rename({ city: "name" });
  rowIs<{ id: number; fare: number | null; city: string; cityId: bigint | null }>()(
    few.join(names.rename({ id: "cityId" }), { leftOn: "city", rightOn: "name", how: "left" }),
  );
  rowIs<{ id: number | null; fare: number | null; city: string; id2: bigint }>()(
    few.join(names, { leftOn: ["city"], rightOn: ["name"], how: "right", suffix: "2" }),
  );
  rowIs<{ id: number | null; fare: number | null; city: string; id_right: bigint | null; country: string | null }>()(
    few.join(cities, { on: ["city"], how: "full" }),
  );
  rowIs<{ id: number; fare: number | null; city: string }>()(few.join(cities, { on: "city", how: "semi" }));
  rowIs<{ id: number; fare: number | null; city: string }>()(few.join(cities, { on: "city", how: "anti" }));
  rowIs<{ id: number; city: string; city_right: string }>()(
    trips.select("id", "city").join(cities.select("city"), { how: "cross" }),
  );
  rowIs<AnyRow>()(trips.join(open, { on: "city" }));
  rowIs<AnyRow>()(open.join(cities, { leftOn: "anything", rightOn: "city" }));
  // @ts-expect-error the other has no such column
  trips.join(cities, { on: "fare" });
  // @ts-expect-error there is no such column
  trips.join(cities, { leftOn: "cty", rightOn: "city" });
  // @ts-expect-error there is no such column
  trips.join(cities, { leftOn: "city", rightOn: "cty" });
  // @ts-expect-error a join without keys is a cross join
  trips.join(cities, { how: "left" });
  // @ts-expect-error there is no such kind
  trips.join(cities, { on: "city", how: "outer" });
});

test("[A12] keys of a right or full join are of either side", () => {
  const left = trips.select("id");
  const right = cities.select("id");
  rowIs<{ id: number | bigint }>()(left.join(right, { on: "id", how: "right" }));
  rowIs<{ id: number | bigint }>()(left.join(right, { on: ["id"], how: "full" }));
  rowIs<{ id: number }>()(left.join(right, { on: "id" }));
});

test("[A12] order, partitions and distinct keep the row type", () => {
  rowIs<Trip>()(trips.sort("city"));
  rowIs<Trip>()(trips.sort(["city", col("fare").abs()], { descending: [true, false], nulls: "first" }));
  rowIs<Trip>()(trips.distinct("city").distinct());
  rowIs<Trip>()(trips.randomShuffle({ seed: 1 }).repartition(4).repartition({ keys: "city", count: 2 }));
  rowIs<Trip>()(trips.repartition({ targetRows: 10 }).repartition({ targetBytes: "64 MiB" }).intoPartitions(3));
  rowIs<{ id: number; id_right: bigint; country: string | null }>()(
    trips.select("id").zip(cities.select("id", "country")),
  );
  rowIs<{ id: number; idB: bigint }>()(trips.select("id").zip(cities.select("id"), { suffix: "B" }));
  // @ts-expect-error there is no such column
  trips.sort("cty");
  // @ts-expect-error there is no such column
  trips.sort(col("fair").abs());
  // @ts-expect-error there is no such column
  trips.distinct("cty");
  // @ts-expect-error there is no such column
  trips.repartition({ keys: ["cty"] });
});

test("[A12] values of the whole dataset", async () => {
  valueIs<number | null>()(await trips.sum("fare"));
  valueIs<Date | null>()(await trips.max("at"));
  valueIs<string | null>()(await trips.min(col("city").upper()));
  valueIs<number>()(await trips.countDistinct("city"));
  valueIs<{ n: number; last: Date }>()(await trips.agg({ n: count(), last: col("at").max() }));
  valueIs<MaterializedDataset<Trip>[]>()(await trips.split(3));
  const { train, test: held } = await trips.trainTestSplit({ testSize: 0.2, shuffle: true, seed: 1 });
  rowIs<Trip>()(train);
  rowIs<Trip>()(held);
  // @ts-expect-error there is no such column
  await trips.sum("fair");
  // @ts-expect-error there is no such column
  await trips.agg({ n: col("fair").sum() });
});

test("[A12] an untyped dataset is grouped and joined as it is", () => {
  rowIs<{ city: AnyRow[string]; total: number; first: AnyRow[string] }>()(
    open.groupBy("city").agg({ total: col("x").sum(), first: col("y").first() }),
  );
  open
    .sort("whatever")
    .distinct("x")
    .join(open, { on: ["a", "b"], how: "left" })
    .zip(open);
});

test("[A12] what lies between numbers is a number, between dates a date", async () => {
  rowIs<{ city: string; when: Date; fare: number; half: Date; ratio: number }>()(
    trips.groupBy("city").agg({
      when: col("at").mean(),
      fare: col("fare").mean(),
      half: col("at").median(),
      ratio: col("fare").mean().divide(col("id").quantile(0.5)),
    }),
  );
  rowIs<{ city: string; at: Date; id: number }>()(trips.groupBy("city").mean("at", "id"));
  valueIs<Date | null>()(await trips.mean("at"));
  valueIs<number | null>()(await trips.median("fare"));
  valueIs<Date | null>()(await trips.quantile(col("at"), 0.9));
  valueIs<number | null>()(await open.mean("anything"));
});

test("[R12] a pipeline's groups, joins and orders have the types of a dataset's", () => {
  const windows = trips.window({ blocks: 2 });
  windowRowIs<{ city: string; total: number }>()(windows.groupBy("city").agg({ total: col("fare").sum() }));
  windowRowIs<{ city: string; n: number }>()(
    windows
      .groupBy("city")
      .mapGroups((rows) => [{ city: rows[0]?.city ?? "", n: rows.length }], { batchFormat: "rows" }),
  );
  windowRowIs<{
    id: number;
    city: string;
    fare: number | null;
    at: Date;
    id_right: bigint;
    country: string | null;
  }>()(windows.join(cities, { on: "city" }));
  windowRowIs<Trip>()(windows.sort("at").distinct("city").randomShuffle({ seed: 1 }).repartition(2).intoPartitions(3));
  // @ts-expect-error there is no such column
  windows.sort("cty");
  // @ts-expect-error a pipeline is no dataset
  windows.join(windows, { on: "city" });
});
