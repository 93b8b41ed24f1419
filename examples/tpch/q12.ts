/** How many late lines came by mail and ship, of urgent orders and of others. */
import { col, count } from "spillway";
import type { Tables } from "./tables.ts";

export function q12({ orders, lineitem }: Tables) {
  const urgent = col("o_orderpriority").in(["1-URGENT", "2-HIGH"]);
  return lineitem
    .where(
      col("l_shipmode")
        .in(["MAIL", "SHIP"])
        .and(col("l_commitdate").lt(col("l_receiptdate")))
        .and(col("l_shipdate").lt(col("l_commitdate")))
        .and(col("l_receiptdate").ge("1994-01-01"))
        .and(col("l_receiptdate").lt("1995-01-01")),
    )
    .join(orders, { leftOn: "l_orderkey", rightOn: "o_orderkey" })
    .groupBy("l_shipmode")
    .agg({ high_line_count: count().where(urgent), low_line_count: count().where(urgent.not()) })
    .sort("l_shipmode");
}
