/** The wealthy customers of some countries who never ordered anything, by the country's number. */
import { col, count } from "spillway";
import type { Tables } from "./tables.ts";

export function q22({ customer, orders }: Tables) {
  const candidates = customer
    .withColumn("cntrycode", col("c_phone").left(2))
    .where(col("cntrycode").in(["13", "31", "23", "29", "30", "18", "17"]));
  const usual = candidates
    .where(col("c_acctbal").gt(0))
    .groupBy()
    .agg({ usual: col("c_acctbal").mean() });
  return candidates
    .join(usual, { how: "cross" })
    .where(col("c_acctbal").gt(col("usual")))
    .join(orders, { leftOn: "c_custkey", rightOn: "o_custkey", how: "anti" })
    .groupBy("cntrycode")
    .agg({ numcust: count(), totacctbal: col("c_acctbal").sum() })
    .sort("cntrycode");
}
