/** How many customers have so many orders, those without any included. */
import { col, count } from "spillway";
import type { Tables } from "./tables.ts";

export const q13 = ({ customer, orders }: Tables) =>
  customer
    .join(orders.where(col("o_comment").like("%special%requests%").not()), {
      leftOn: "c_custkey",
      rightOn: "o_custkey",
      how: "left",
    })
    .groupBy("c_custkey")
    .agg({ c_count: col("o_orderkey").count() })
    .groupBy("c_count")
    .agg({ custdist: count() })
    .sort(["custdist", "c_count"], { descending: true });
