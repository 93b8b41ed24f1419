/** The customers who sent back the most of a quarter's orders. */
import { col } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export const q10 = ({ customer, orders, lineitem, nation }: Tables) =>
  lineitem
    .where(col("l_returnflag").eq("R"))
    .join(orders.where(col("o_orderdate").ge("1993-10-01").and(col("o_orderdate").lt("1994-01-01"))), {
      leftOn: "l_orderkey",
      rightOn: "o_orderkey",
    })
    .join(customer, { leftOn: "o_custkey", rightOn: "c_custkey" })
    .join(nation, { leftOn: "c_nationkey", rightOn: "n_nationkey" })
    .groupBy(col("o_custkey").as("c_custkey"), "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment")
    .agg({ revenue: revenue.sum() })
    .select("c_custkey", "c_name", "revenue", "c_acctbal", "n_name", "c_address", "c_phone", "c_comment")
    .sort("revenue", { descending: true })
    .limit(20);
