/** The supplier, or suppliers, who earned the most in a quarter. */
import { col } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export function q15({ lineitem, supplier }: Tables) {
  const earned = lineitem
    .where(col("l_shipdate").ge("1996-01-01").and(col("l_shipdate").lt("1996-04-01")))
    .groupBy("l_suppkey")
    .agg({ total_revenue: revenue.sum() });
  const most = earned.groupBy().agg({ most: col("total_revenue").max() });
  return supplier
    .join(earned, { leftOn: "s_suppkey", rightOn: "l_suppkey" })
    .join(most, { leftOn: "total_revenue", rightOn: "most" })
    .select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue")
    .sort("s_suppkey");
}
