/** The parts that make up a notable share of all that German suppliers have in stock. */
import { col } from "spillway";
import type { Tables } from "./tables.ts";

export function q11({ partsupp, supplier, nation, scale }: Tables) {
  const stock = partsupp
    .join(supplier, { leftOn: "ps_suppkey", rightOn: "s_suppkey" })
    .join(nation.where(col("n_name").eq("GERMANY")), { leftOn: "s_nationkey", rightOn: "n_nationkey" });
  const value = col("ps_supplycost").multiply(col("ps_availqty")).sum();
  const whole = stock.groupBy().agg({ notable: value.multiply(0.0001 / scale) });
  return stock
    .groupBy("ps_partkey")
    .agg({ value })
    .join(whole, { how: "cross" })
    .where(col("value").gt(col("notable")))
    .select("ps_partkey", "value")
    .sort("value", { descending: true });
}
