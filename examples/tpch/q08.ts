/** The share of one nation's suppliers in what American customers bought of a type of part, by year. */
import { col, when } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export function q08({ part, supplier, lineitem, orders, customer, nation, region }: Tables) {
  const americans = customer
    .join(nation, { leftOn: "c_nationkey", rightOn: "n_nationkey" })
    .join(region.where(col("r_name").eq("AMERICA")), { leftOn: "n_regionkey", rightOn: "r_regionkey" })
    .select("c_custkey");
  const suppliers = supplier
    .join(nation, { leftOn: "s_nationkey", rightOn: "n_nationkey" })
    .select("s_suppkey", col("n_name").as("nation"));
  return lineitem
    .join(part.where(col("p_type").eq("ECONOMY ANODIZED STEEL")), { leftOn: "l_partkey", rightOn: "p_partkey" })
    .join(orders.where(col("o_orderdate").between("1995-01-01", "1996-12-31")), {
      leftOn: "l_orderkey",
      rightOn: "o_orderkey",
    })
    .join(americans, { leftOn: "o_custkey", rightOn: "c_custkey" })
    .join(suppliers, { leftOn: "l_suppkey", rightOn: "s_suppkey" })
    .groupBy(col("o_orderdate").year().as("o_year"))
    .agg({ mkt_share: when(col("nation").eq("BRAZIL")).then(revenue).otherwise(0).sum().divide(revenue.sum()) })
    .sort("o_year");
}
