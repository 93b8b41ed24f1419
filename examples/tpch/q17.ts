/** What a year would earn less if orders for a fifth of a part's usual quantity were refused. */
import { col } from "spillway";
import type { Tables } from "./tables.ts";

export function q17({ lineitem, part }: Tables) {
  const lines = lineitem.join(part.where(col("p_brand").eq("Brand#23").and(col("p_container").eq("MED BOX"))), {
    leftOn: "l_partkey",
    rightOn: "p_partkey",
  });
  const few = lines.groupBy("l_partkey").agg({ few: col("l_quantity").mean().multiply(0.2) });
  return lines
    .join(few, { on: "l_partkey" })
    .where(col("l_quantity").lt(col("few")))
    .groupBy()
    .agg({ avg_yearly: col("l_extendedprice").sum().divide(7) });
}
