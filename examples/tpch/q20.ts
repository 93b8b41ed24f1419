/** The Canadian suppliers who have more than they need of a part whose name begins with a colour. */
import { col } from "spillway";
import type { Tables } from "./tables.ts";

export function q20({ supplier, nation, partsupp, part, lineitem }: Tables) {
  const needed = lineitem
    .where(col("l_shipdate").ge("1994-01-01").and(col("l_shipdate").lt("1995-01-01")))
    .groupBy("l_partkey", "l_suppkey")
    .agg({ needed: col("l_quantity").sum().multiply(0.5) });
  const excess = partsupp
    .join(part.where(col("p_name").startsWith("forest")), { leftOn: "ps_partkey", rightOn: "p_partkey", how: "semi" })
    .join(needed, { leftOn: ["ps_partkey", "ps_suppkey"], rightOn: ["l_partkey", "l_suppkey"] })
    .where(col("ps_availqty").gt(col("needed")));
  return supplier
    .join(nation.where(col("n_name").eq("CANADA")), { leftOn: "s_nationkey", rightOn: "n_nationkey" })
    .join(excess, { leftOn: "s_suppkey", rightOn: "ps_suppkey", how: "semi" })
    .select("s_name", "s_address")
    .sort("s_name");
}
