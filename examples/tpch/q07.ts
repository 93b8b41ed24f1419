/** What was traded between two nations, by direction and year. */
import { col } from "spillway";
import { revenue } from "./revenue.ts";
import type { Tables } from "./tables.ts";

export function q07({ supplier, lineitem, orders, customer, nation }: Tables) {
  const partners = nation.where(col("n_name").in(["FRANCE", "GERMANY"]));
  const suppliers = supplier
    .join(partners, { leftOn: "s_nationkey", rightOn: "n_nationkey" })
    .select("s_suppkey", col("n_name").as("supp_nation"));
  const customers = customer
    .join(partners, { leftOn: "c_nationkey", rightOn: "n_nationkey" })
    .select("c_custkey", col("n_name").as("cust_nation"));
  return lineitem
    .where(col("l_shipdate").between("1995-01-01", "1996-12-31"))
    .join(suppliers, { leftOn: "l_suppkey", rightOn: "s_suppkey" })
    .join(orders, { leftOn: "l_orderkey", rightOn: "o_orderkey" })
    .join(customers, { leftOn: "o_custkey", rightOn: "c_custkey" })
    .where(col("supp_nation").ne(col("cust_nation")))
    .groupBy("supp_nation", "cust_nation", col("l_shipdate").year().as("l_year"))
    .agg({ revenue: revenue.sum() })
    .sort(["supp_nation", "cust_nation", "l_year"]);
}
