/** What Asian suppliers earned in a year with customers of their own nation. */
import { col } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export const q05 = ({ customer, orders, lineitem, supplier, nation, region }: Tables) =>
  lineitem
    .join(orders.where(col("o_orderdate").ge("1994-01-01").and(col("o_orderdate").lt("1995-01-01"))), {
      leftOn: "l_orderkey",
      rightOn: "o_orderkey",
    })
    .join(customer, { leftOn: "o_custkey", rightOn: "c_custkey" })
    .join(supplier, { leftOn: ["l_suppkey", "c_nationkey"], rightOn: ["s_suppkey", "s_nationkey"] })
    .join(nation, { leftOn: "c_nationkey", rightOn: "n_nationkey" })
    .join(region.where(col("r_name").eq("ASIA")), { leftOn: "n_regionkey", rightOn: "r_regionkey" })
    .groupBy("n_name")
    .agg({ revenue: revenue.sum() })
    .sort("revenue", { descending: true });
