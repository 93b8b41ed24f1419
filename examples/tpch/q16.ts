/** How many suppliers without complaints offer a kind of part. */
import { col } from "spillway";
import type { Tables } from "./tables.ts";

export const q16 = ({ partsupp, part, supplier }: Tables) =>
  partsupp
    .join(
      part.where(
        col("p_brand")
          .ne("Brand#45")
          .and(col("p_type").startsWith("MEDIUM POLISHED").not())
          .and(col("p_size").in([49, 14, 23, 45, 19, 3, 36, 9])),
      ),
      { leftOn: "ps_partkey", rightOn: "p_partkey" },
    )
    .join(supplier.where(col("s_comment").like("%Customer%Complaints%")), {
      leftOn: "ps_suppkey",
      rightOn: "s_suppkey",
      how: "anti",
    })
    .groupBy("p_brand", "p_type", "p_size")
    .agg({ supplier_cnt: col("ps_suppkey").countDistinct() })
    .sort(["supplier_cnt", "p_brand", "p_type", "p_size"], { descending: [true, false, false, false] });
