/** The Saudi suppliers who alone kept orders of several suppliers waiting. */
import { col, count } from "spillway";
import type { Tables } from "./tables.ts";

export function q21({ supplier, lineitem, orders, nation }: Tables) {
  const late = col("l_receiptdate").gt(col("l_commitdate"));
  const kept = lineitem
    .groupBy("l_orderkey")
    .agg({
      suppliers: col("l_suppkey").countDistinct(),
      late_suppliers: col("l_suppkey").countDistinct().where(late),
    })
    .where(col("suppliers").gt(1).and(col("late_suppliers").eq(1)));
  return lineitem
    .where(late)
    .join(supplier, { leftOn: "l_suppkey", rightOn: "s_suppkey" })
    .join(nation.where(col("n_name").eq("SAUDI ARABIA")), { leftOn: "s_nationkey", rightOn: "n_nationkey" })
    .join(orders.where(col("o_orderstatus").eq("F")), { leftOn: "l_orderkey", rightOn: "o_orderkey" })
    .join(kept, { on: "l_orderkey", how: "semi" })
    .groupBy("s_name")
    .agg({ numwait: count() })
    .sort(["numwait", "s_name"], { descending: [true, false] })
    .limit(100);
}
