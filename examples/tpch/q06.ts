/** What more would have been earned without small discounts on small quantities. */
import { col } from "spillway";
import type { Tables } from "./tables.ts";

export const q06 = ({ lineitem }: Tables) =>
  lineitem
    .where(
      col("l_shipdate")
        .ge("1994-01-01")
        .and(col("l_shipdate").lt("1995-01-01"))
        .and(col("l_discount").between(0.05, 0.07))
        .and(col("l_quantity").lt(24)),
    )
    .groupBy()
    .agg({ revenue: col("l_extendedprice").multiply(col("l_discount")).sum() });
