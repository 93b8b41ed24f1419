/** What a line item earns, as most of the queries count it. */
import { col, lit } from "spillway";

export const revenue = col("l_extendedprice").multiply(lit(1).subtract(col("l_discount")));
