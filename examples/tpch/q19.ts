/** What was earned with three kinds of parts that were handed over in person. */
import { col } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

/** Parts of a brand, small enough and packed in this way, ordered in quantities from `least` on. */
const kind = (brand: string, containers: readonly string[], least: number, largest: number) =>
  col("p_brand")
    .eq(brand)
    .and(col("p_container").in(containers))
    .and(col("l_quantity").between(least, least + 10))
    .and(col("p_size").between(1, largest));

export const q19 = ({ lineitem, part }: Tables) =>
  lineitem
    .where(col("l_shipmode").in(["AIR", "AIR REG"]).and(col("l_shipinstruct").eq("DELIVER IN PERSON")))
    .join(part, { leftOn: "l_partkey", rightOn: "p_partkey" })
    .where(
      kind("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5)
        .or(kind("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10))
        .or(kind("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15)),
    )
    .groupBy()
    .agg({ revenue: revenue.sum() });
