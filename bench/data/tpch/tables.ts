/**
 * The eight tables of TPC-H at any scale, as queries that make them, cut into files. Every value is a hash of its row's
 * number, and so the same in every run. This is not dbgen's data, but it is drawn from the same values, with the same
 * keys between the tables, so that each of the 22 queries finds something from a scale of 0.01 on.
 */
import { lineitem, orders } from "./orders.ts";
import { customer, nation, region, supplier } from "./parties.ts";
import { part, partsupp } from "./parts.ts";
import { type TpchSize, tpchSize } from "./size.ts";

export const TPCH_TABLES = [
  "region",
  "nation",
  "supplier",
  "customer",
  "part",
  "partsupp",
  "orders",
  "lineitem",
] as const;
export type TpchTable = (typeof TPCH_TABLES)[number];

/** Makes the rows [first, end) of a table; for line items, those of the orders [first, end). */
type Sql = (size: TpchSize, first: number, end: number) => string;

interface Making {
  readonly sql: Sql;
  readonly rows: (size: TpchSize) => number;
  readonly rowsPerFile: number;
}

const ROWS_PER_FILE = 1_500_000;
/** An order has four lines. */
const ORDERS_PER_FILE = ROWS_PER_FILE / 4;

const MAKING: Readonly<Record<TpchTable, Making>> = {
  region: { sql: region, rows: () => 5, rowsPerFile: ROWS_PER_FILE },
  nation: { sql: nation, rows: () => 25, rowsPerFile: ROWS_PER_FILE },
  supplier: { sql: supplier, rows: (size) => size.suppliers, rowsPerFile: ROWS_PER_FILE },
  customer: { sql: customer, rows: (size) => size.customers, rowsPerFile: ROWS_PER_FILE },
  part: { sql: part, rows: (size) => size.parts, rowsPerFile: ROWS_PER_FILE },
  partsupp: { sql: partsupp, rows: (size) => 4 * size.parts, rowsPerFile: ROWS_PER_FILE },
  orders: { sql: orders, rows: (size) => size.orders, rowsPerFile: ROWS_PER_FILE },
  lineitem: { sql: lineitem, rows: (size) => size.orders, rowsPerFile: ORDERS_PER_FILE },
};

/** The queries for a table's files, in order. */
export function tpchFileQueries(table: TpchTable, scale: number): string[] {
  const { sql, rows, rowsPerFile } = MAKING[table];
  const size = tpchSize(scale);
  const queries: string[] = [];
  for (let first = 0; first < rows(size); first += rowsPerFile) {
    queries.push(sql(size, first, Math.min(first + rowsPerFile, rows(size))));
  }
  return queries;
}
