/** For each brass part of a size, the European supplier who asks the least for it. */
import { col } from "spillway";
import type { Tables } from "./tables.ts";

export function q02({ part, supplier, partsupp, nation, region }: Tables) {
  const offers = part
    .where(col("p_size").eq(15).and(col("p_type").endsWith("BRASS")))
    .join(partsupp, { leftOn: "p_partkey", rightOn: "ps_partkey" })
    .join(supplier, { leftOn: "ps_suppkey", rightOn: "s_suppkey" })
    .join(nation, { leftOn: "s_nationkey", rightOn: "n_nationkey" })
    .join(region.where(col("r_name").eq("EUROPE")), { leftOn: "n_regionkey", rightOn: "r_regionkey" });
  const cheapest = offers.groupBy("p_partkey").agg({ least: col("ps_supplycost").min() });
  return offers
    .join(cheapest, { leftOn: ["p_partkey", "ps_supplycost"], rightOn: ["p_partkey", "least"] })
    .select("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment")
    .sort(["s_acctbal", "n_name", "s_name", "p_partkey"], { descending: [true, false, false, false] })
    .limit(100);
}
