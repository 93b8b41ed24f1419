/** Ours: TPC-H's first query over doubles. */
import { col, count, lit } from "spillway";
import { timed } from "./program.ts";
import { answerOfRows } from "./rows-answer.ts";

const revenue = col("l_extendedprice").multiply(lit(1).subtract(col("l_discount")));

await timed(async (session, job) =>
  answerOfRows(
    await session
      .readParquet([...job.files.lineitem])
      .where(col("l_shipdate").le("1998-09-02"))
      .groupBy("l_returnflag", "l_linestatus")
      .agg({
        sum_qty: col("l_quantity").sum(),
        sum_base_price: col("l_extendedprice").sum(),
        sum_disc_price: revenue.sum(),
        sum_charge: revenue.multiply(col("l_tax").add(1)).sum(),
        avg_qty: col("l_quantity").mean(),
        avg_price: col("l_extendedprice").mean(),
        avg_disc: col("l_discount").mean(),
        count_order: count(),
      })
      .sort(["l_returnflag", "l_linestatus"])
      .takeAll(),
  ),
);
