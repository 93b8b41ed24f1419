/** What part of a month's revenue came from promoted parts. */
import { col, when } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export const q14 = ({ lineitem, part }: Tables) =>
  lineitem
    .where(col("l_shipdate").ge("1995-09-01").and(col("l_shipdate").lt("1995-10-01")))
    .join(part, { leftOn: "l_partkey", rightOn: "p_partkey" })
    .groupBy()
    .agg({
      promo_revenue: when(col("p_type").startsWith("PROMO"))
        .then(revenue)
        .otherwise(0)
        .sum()
        .multiply(100)
        .divide(revenue.sum()),
    });
