/** Ours: every line with its order, then groups. */
import { col, count, lit } from "spillway";
import { timed } from "./program.ts";
import { answerOfRows } from "./rows-answer.ts";

await timed(async (session, job) =>
  answerOfRows(
    await session
      .readParquet([...job.files.lineitem])
      .join(session.readParquet([...job.files.orders]), { leftOn: "l_orderkey", rightOn: "o_orderkey" })
      .groupBy("o_orderpriority", "l_shipmode")
      .agg({
        lines: count(),
        revenue: col("l_extendedprice")
          .multiply(lit(1).subtract(col("l_discount")))
          .sum(),
        last: col("o_orderdate").max(),
      })
      .sort(["o_orderpriority", "l_shipmode"])
      .takeAll(),
  ),
);
