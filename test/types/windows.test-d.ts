/** Types of windows: `tsc -p test/tsconfig.json` is the test. */
import type { Dataset, DatasetPipeline } from "../../src/dataset/index.ts";
import { col, count, denseRank, ntile, rank, rowNumber, sql } from "../../src/dataset/index.ts";
import { rowIs, test, windowRowIs } from "./expected.ts";

interface Trip {
  id: number;
  city: string;
  fare: number | null;
  at: Date;
}
declare const trips: Dataset<Trip>;
declare const open: Dataset;
declare const pipeline: DatasetPipeline<Trip>;

test("[A16] windows have the types of what they compute", () => {
  rowIs<{
    id: number;
    total: number;
    mean: Date;
    n: number;
    place: number;
    before: number | null;
    after: string;
    first: Date;
    last: string;
    fares: (number | null)[];
    part: number;
  }>()(
    trips.select(
      "id",
      col("fare").sum().over({ partitionBy: "city", orderBy: "at" }).as("total"),
      col("at")
        .mean()
        .over({ partitionBy: ["city", col("at").year()] })
        .as("mean"),
      count().over().as("n"),
      rowNumber()
        .over({ orderBy: ["city", col("id").negate()], descending: [true, false], nulls: "first" })
        .as("place"),
      col("fare").lag().over({ orderBy: "id" }).as("before"),
      col("city").lead(1, "none").over({ orderBy: "id" }).as("after"),
      col("at").first().over({ orderBy: "id" }).as("first"),
      col("city")
        .last()
        .over({ orderBy: "id", frame: { rows: [-1, "unbounded"] } })
        .as("last"),
      col("fare")
        .list()
        .over({ orderBy: "at", frame: { range: [{ day: -6 }, 0] } })
        .as("fares"),
      ntile(4).over({ orderBy: "id" }).as("part"),
    ),
  );
  rowIs<{ id: number; city: string; fare: number | null; at: Date; rank: number }>()(
    trips.withColumn("rank", rank().over({ partitionBy: "city", orderBy: "fare" })),
  );
  rowIs<Trip>()(trips.where(denseRank().over({ orderBy: "fare" }).le(3)));
  rowIs<Trip>()(trips.topN(3, { by: "fare", partitionBy: ["city", col("at").year()], descending: true }));
  windowRowIs<Trip>()(pipeline.topN(3, { by: [col("fare").abs(), "id"], descending: [true, false] }));
  open.topN(2, { by: "anything", partitionBy: "else" });
  open.withColumn("w", count().over({ partitionBy: "anything" }));
  trips.withColumn("w", sql<number>("sum(fare) over ()"));
});

test("[A16] wrong columns and options are compile errors", () => {
  const sum = col("fare").sum();
  const when = col("when").year();
  // @ts-expect-error there is no such column
  trips.withColumn("w", col("fair").sum().over());
  // @ts-expect-error there is no such column
  trips.withColumn("w", sum.over({ partitionBy: "cty" }));
  // @ts-expect-error there is no such column
  trips.withColumn("w", sum.over({ partitionBy: ["city", when] }));
  const place = rank().over({ orderBy: ["city", "when"] });
  // @ts-expect-error there is no such column
  trips.select(place.as("w"));
  // @ts-expect-error there is no such column
  trips.where(place.eq(1));
  // @ts-expect-error there is no such column
  trips.topN(3, { by: "fair" });
  // @ts-expect-error there is no such column
  trips.topN(3, { by: "fare", partitionBy: "cty" });
  // @ts-expect-error it needs an order
  rowNumber().over({ partitionBy: "city" });
  // @ts-expect-error it needs an order
  col("fare").lag().over({});
  // @ts-expect-error it takes no frame
  rank().over({ orderBy: "id", frame: { rows: [-1, 0] } });
  // @ts-expect-error it is no expression before over
  trips.withColumn("w", rowNumber());
  // @ts-expect-error a frame has two bounds
  sum.over({ orderBy: "id", frame: { rows: [-1] } });
  // @ts-expect-error there is no such unit
  sum.over({ orderBy: "at", frame: { range: [{ days: -1 }, 0] } });
  // @ts-expect-error a window is no aggregate
  sum.over().over();
});
