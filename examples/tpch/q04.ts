/** How many orders of a quarter had a line that came late, by priority. */
import { col, count } from "spillway";
import type { Tables } from "./tables.ts";

export const q04 = ({ orders, lineitem }: Tables) =>
  orders
    .where(col("o_orderdate").ge("1993-07-01").and(col("o_orderdate").lt("1993-10-01")))
    .join(lineitem.where(col("l_commitdate").lt(col("l_receiptdate"))), {
      leftOn: "o_orderkey",
      rightOn: "l_orderkey",
      how: "semi",
    })
    .groupBy("o_orderpriority")
    .agg({ order_count: count() })
    .sort("o_orderpriority");
