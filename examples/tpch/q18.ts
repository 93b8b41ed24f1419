/** The most expensive of the orders of large quantities, and who gave them. */
import { col } from "spillway";
import type { Tables } from "./tables.ts";

export function q18({ customer, orders, lineitem }: Tables) {
  const large = lineitem
    .groupBy("l_orderkey")
    .agg({ quantity: col("l_quantity").sum() })
    .where(col("quantity").gt(300));
  return orders
    .join(large, { leftOn: "o_orderkey", rightOn: "l_orderkey", how: "semi" })
    .join(customer, { leftOn: "o_custkey", rightOn: "c_custkey" })
    .join(lineitem, { leftOn: "o_orderkey", rightOn: "l_orderkey" })
    .groupBy("c_name", col("o_custkey").as("c_custkey"), "o_orderkey", "o_orderdate", "o_totalprice")
    .agg({ sum_qty: col("l_quantity").sum() })
    .sort(["o_totalprice", "o_orderdate"], { descending: [true, false] })
    .limit(100);
}
