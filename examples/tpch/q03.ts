/** The unshipped orders that are worth the most. */
import { col } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export const q03 = ({ customer, orders, lineitem }: Tables) =>
  lineitem
    .where(col("l_shipdate").gt("1995-03-15"))
    .join(orders.where(col("o_orderdate").lt("1995-03-15")), { leftOn: "l_orderkey", rightOn: "o_orderkey" })
    .join(customer.where(col("c_mktsegment").eq("BUILDING")), { leftOn: "o_custkey", rightOn: "c_custkey" })
    .groupBy("l_orderkey", "o_orderdate", "o_shippriority")
    .agg({ revenue: revenue.sum() })
    .select("l_orderkey", "revenue", "o_orderdate", "o_shippriority")
    .sort(["revenue", "o_orderdate"], { descending: [true, false] })
    .limit(10);
