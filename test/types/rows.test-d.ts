/**
 * What the compiler knows of rows. Nothing here runs: `tsc -p test/tsconfig.json` is the test, and an error that is
 * expected and does not come is one.
 */
import type { Dataset, DatasetPipeline } from "../../src/dataset/index.ts";
import { col, lit, sql, when } from "../../src/dataset/index.ts";
import { rowIs, test, windowRowIs } from "./expected.ts";

interface Trip {
  id: number;
  city: string;
  fare: number | null;
  stops: string[];
  when: Date;
}
declare const trips: Dataset<Trip>;
declare const open: Dataset;

test("[A12] an untyped row can be used as it is", () => {
  const mapped = open.map((row) => ({ double: row.price * 2, name: row.name.toUpperCase() as string }));
  rowIs<{ double: number; name: string }>()(mapped);
  open.where(col("whatever").gt(1)).drop("x").rename({ a: "b" }).withColumn("y", lit(1)).select("anything");
  open.mapBatches((batch) => ({ n: [batch.price.length as number] }));
});

test("[A12] select computes the next row type", () => {
  rowIs<{ id: number; city: string }>()(trips.select("id", "city"));
  rowIs<{ id: number; fare: number | null }>()(trips.select(col("id"), "fare"));
  rowIs<{ shout: string; id: number }>()(trips.select(col("city").upper().as("shout"), "id"));
  rowIs<{ where: string }>()(trips.select(col("city").as("where")));
  // @ts-expect-error there is no such column
  trips.select("cty");
  // @ts-expect-error there is no such column
  trips.select(col("cty"));
  // @ts-expect-error an expression needs a name
  trips.select(col("city").upper());
});

test("[A12] withColumn, drop, rename and explode compute the next row type", () => {
  const added = trips.select("id", "city").withColumn("net", col("id").multiply(0.8));
  rowIs<{ id: number; city: string; net: number }>()(added);
  rowIs<{ city: string; id: boolean }>()(trips.select("id", "city").withColumn("id", col("id").gt(1)));
  rowIs<{ city: string }>()(trips.select("id", "city").drop("id"));
  rowIs<{ key: number; city: string }>()(trips.select("id", "city").rename({ id: "key" }));
  rowIs<{ id: number; stops: string }>()(trips.select("id", "stops").explode("stops"));
  rowIs<{ id: number; size: "big" | "small" }>()(
    trips.select("id").withColumn(
      "size",
      when(col("id").gt(5))
        .then("big" as const)
        .otherwise("small" as const),
    ),
  );
  rowIs<{ id: number; raw: bigint }>()(trips.select("id").withColumn("raw", sql<bigint>("id::HUGEINT")));
  // @ts-expect-error there is no such column
  trips.withColumn("net", col("fair").multiply(2));
  // @ts-expect-error there is no such column
  trips.drop("cty");
  // @ts-expect-error there is no such column
  trips.rename({ cty: "town" });
  // @ts-expect-error there is no such column
  trips.explode("stop");
});

test("[A12] dropNull and fillNull take null out of the row type", () => {
  const few = trips.select("id", "fare", "city");
  rowIs<{ id: number; fare: number; city: string }>()(few.dropNull());
  rowIs<{ id: number; fare: number; city: string }>()(few.dropNull(["fare"]));
  rowIs<{ id: number; fare: number | null; city: string }>()(few.dropNull(["city"]));
  rowIs<{ id: number; fare: number; city: string }>()(few.fillNull(0));
  rowIs<{ id: number; fare: number | null; city: string }>()(few.fillNull("none"));
  rowIs<{ id: number; fare: number; city: string }>()(few.fillNull({ fare: 0 }));
  rowIs<{ id: number; fare: number | null; city: string }>()(few.fillNull({ city: "none" }));
  open.dropNull(["x"]).fillNull(0).fillNull({ y: 1 });
});

test("[A12] a wrong column in a condition is an error, however deep", () => {
  trips.where(col("id").gt(1).and(col("city").eq("Oslo")));
  trips.filter(col("fare").isNotNull());
  // @ts-expect-error there is no such column
  trips.where(col("id").gt(1).and(col("cty").eq("Oslo")));
  // @ts-expect-error there is no such column
  trips.where(col("id").between(1, col("fair")));
  // @ts-expect-error there is no such column
  trips.filter(when(col("id").gt(1)).then(col("nope")).otherwise(false));
  // @ts-expect-error there is no such column
  trips.dropNull(["fair"]);
  // @ts-expect-error there is no such column
  trips.fillNull({ fair: 0 });
});

test("[A12] functions see their row and give the next", () => {
  rowIs<{ a: number; b: string }>()(trips.map((row) => ({ a: row.id, b: row.city })));
  rowIs<{ a: number }>()(trips.map(async (row) => ({ a: row.id })));
  rowIs<{ stop: string }>()(trips.flatMap((row) => row.stops.map((stop) => ({ stop }))));
  rowIs<Trip & { fare: number }>()(trips.filter((row): row is Trip & { fare: number } => row.fare !== null));
  rowIs<Trip>()(trips.filter((row) => row.id > 1));
  // @ts-expect-error there is no such column
  trips.map((row) => ({ a: row.cty }));
  // @ts-expect-error a number is no row
  trips.map((row) => row.id);
});

test("[A12] batch functions see columns, rows or tables, and give the next row type", () => {
  rowIs<{ double: number; name: string }>()(
    trips.mapBatches((batch) => ({
      double: Float64Array.from(batch.id, (id) => id * 2),
      name: Array.from(batch.city, (city) => city.trim()),
    })),
  );
  rowIs<{ n: number }>()(trips.mapBatches((rows) => [{ n: rows.length }], { batchFormat: "rows" }));
  trips.mapBatches((table) => table.select(["id"]), { batchFormat: "arrow" });
  rowIs<{ n: number }>()(
    trips.mapBatches(function* (batch) {
      yield { n: [batch.id.length] };
    }),
  );
  // @ts-expect-error there is no such column
  trips.mapBatches((batch) => ({ n: [batch.nope.length] }));
});

test("[A12] columns that are no numbers can be mapped to anything", () => {
  const files = trips.map(() => ({ id: 1, bytes: new Uint8Array(3), name: "a" as string | null }));
  rowIs<{ size: number; name: string }>()(
    files.mapBatches(async (batch) => ({
      size: await Promise.all(batch.bytes.map(async (bytes) => bytes.length)),
      name: batch.name.map((name) => name ?? ""),
    })),
  );
  // @ts-expect-error numbers may come as a typed array, whose map gives numbers
  files.mapBatches((batch) => ({ text: batch.id.map((id) => `${id}`) }));
});

test("[A12] a class function's arguments are checked", () => {
  class Model {
    constructor(readonly path: string) {}
    call(batch: { id: ArrayLike<number> }) {
      return { score: Array.from(batch.id, (id) => id / 2) };
    }
  }
  rowIs<{ score: number }>()(trips.mapBatches(Model, { constructorArgs: ["weights"] }));
  // @ts-expect-error the constructor wants a text
  trips.mapBatches(Model, { constructorArgs: [1] });
});

test("[A12] a dataset of more columns can stand for one of fewer, not the other way round", () => {
  const fewer: Dataset<{ id: number }> = trips;
  const any: Dataset = trips;
  // @ts-expect-error columns are missing
  const more: Dataset<Trip> = fewer;
  return [fewer, any, more];
});

test("[A12] consuming gives the row type", async () => {
  const rows: Trip[] = await trips.take(3);
  for await (const row of trips.iterRows()) row.city.trim();
  for await (const batch of trips.iterBatches({ batchSize: 10 })) batch.id.reduce((sum, id) => sum + id, 0);
  for await (const batch of trips.iterBatches({ batchFormat: "rows" })) batch[0]?.stops.join();
  const kept = await trips.materialize();
  rowIs<Trip>()(kept);
  // @ts-expect-error there is no such column
  await trips.writeParquet("out", { partitionBy: "cty" });
  return rows;
});

test("[R12] pipelines compute row types as datasets do", async () => {
  const windows = trips.window({ blocks: 2 });
  windowRowIs<Trip>()(windows);
  windowRowIs<Trip>()(trips.repeat(3));
  windowRowIs<Trip>()(trips.window({ bytes: "1 GiB" }).repeat());
  windowRowIs<{ id: number; shout: string }>()(windows.select("id", col("city").upper().as("shout")));
  windowRowIs<{ id: number; city: string; net: number }>()(
    windows.select("id", "city").withColumn("net", col("id").multiply(0.8)),
  );
  windowRowIs<{ key: number }>()(windows.select("id", "city").drop("city").rename({ id: "key" }));
  windowRowIs<{ stops: string }>()(windows.select("stops").explode("stops").limit(1).dropNull());
  windowRowIs<{ a: number }>()(windows.map(async (row) => ({ a: row.id })));
  windowRowIs<Trip & { fare: number }>()(windows.filter((row): row is Trip & { fare: number } => row.fare !== null));
  windowRowIs<{ double: number }>()(
    windows.mapBatches((batch) => ({ double: Float64Array.from(batch.id, (id) => id * 2) })),
  );
  windowRowIs<{ id: number }>()(windows.foreachWindow((window) => window.offset(1).select("id")));
  for await (const row of windows.iterRows()) row.city.trim();
  for await (const batch of windows.iterBatches()) batch.id.reduce((sum, id) => sum + id, 0);
  for await (const window of windows.iterWindows()) rowIs<Trip>()(window);
  for await (const epoch of windows.iterEpochs()) windowRowIs<Trip>()(epoch);
  const fewer: DatasetPipeline<{ id: number }> = windows;
  // @ts-expect-error there is no such column
  windows.where(col("cty").eq("Oslo"));
  // @ts-expect-error there is no such column
  windows.select("cty");
  // @ts-expect-error one of the two
  trips.window({ blocks: 1, bytes: 1 });
  // @ts-expect-error one of the two
  trips.window({});
  return fewer;
});
