/** Ours: the same work as one COPY of DuckDB, through the public API. */
import { col, lit } from "spillway";
import { timed } from "./program.ts";

await timed(async (session, job) => {
  await session
    .readParquet([...job.files.lineitem])
    .filter(col("l_shipdate").ge(new Date("1995-01-01")).and(col("l_quantity").lt(25)))
    .select(
      "l_orderkey",
      "l_partkey",
      "l_shipdate",
      "l_shipmode",
      "l_comment",
      col("l_extendedprice")
        .multiply(lit(1).subtract(col("l_discount")))
        .as("revenue"),
    )
    .writeParquet(job.written, { compression: "snappy" });
  return {};
});
