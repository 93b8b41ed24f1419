/** The Saudi suppliers who alone kept orders of several suppliers waiting. */
import { col, count } from "spillway";
import type { Tables } from "./tables.ts";

export function q21({ supplier, lineitem, orders, nation }: Tables) {
  const late = col("l_receiptdate").gt(col("l_commitdate"));
  // Several suppliers: the least and the greatest of their keys differ. Only one of them late: among those they do not.
  const kept = lineitem
    .groupBy("l_orderkey")
    .agg({
      least: col("l_suppkey").min(),
      greatest: col("l_suppkey").max(),
      least_late: col("l_suppkey").min().where(late),
      greatest_late: col("l_suppkey").max().where(late),
    })
    .where(
      col("least")
        .ne(col("greatest"))
        .and(col("least_late").eq(col("greatest_late"))),
    );
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
