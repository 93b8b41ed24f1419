/** How much was ordered, billed and shipped, by return flag and status, up to a day. */
import { col, count } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export const q01 = ({ lineitem }: Tables) =>
  lineitem
    .where(col("l_shipdate").le("1998-09-02"))
    .groupBy("l_returnflag", "l_linestatus")
    .agg({
      sum_qty: col("l_quantity").sum(),
      sum_base_price: col("l_extendedprice").sum(),
      sum_disc_price: revenue.sum(),
      sum_charge: revenue.multiply(col("l_tax").add(1)).sum(),
      avg_qty: col("l_quantity").mean(),
      avg_price: col("l_extendedprice").mean(),
      avg_disc: col("l_discount").mean(),
      count_order: count(),
    })
    .sort(["l_returnflag", "l_linestatus"]);
