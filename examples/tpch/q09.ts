/** What green parts earned, by the supplier's nation and year. */
import { col } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export const q09 = ({ part, supplier, lineitem, partsupp, orders, nation }: Tables) =>
  lineitem
    .join(part.where(col("p_name").contains("green")), { leftOn: "l_partkey", rightOn: "p_partkey" })
    .join(partsupp, { leftOn: ["l_partkey", "l_suppkey"], rightOn: ["ps_partkey", "ps_suppkey"] })
    .join(supplier, { leftOn: "l_suppkey", rightOn: "s_suppkey" })
    .join(nation, { leftOn: "s_nationkey", rightOn: "n_nationkey" })
    .join(orders, { leftOn: "l_orderkey", rightOn: "o_orderkey" })
    .groupBy(col("n_name").as("nation"), col("o_orderdate").year().as("o_year"))
    .agg({ sum_profit: revenue.subtract(col("ps_supplycost").multiply(col("l_quantity"))).sum() })
    .sort(["nation", "o_year"], { descending: [false, true] });
