/**
 * The two tables of the benchmarks, as SQL over row numbers: the columns of TPC-H's lineitem and orders, with doubles
 * instead of decimals. Every value is a hash of its row's number, so row 17 is the same at every scale and on every
 * machine. This is not TPC-H data: totals do not match the line items, and keys do not grow with the scale.
 */
import { comment, list, pick, uniform } from "./draw.ts";

export type FlatTable = "lineitem" | "orders";

export const ROWS_PER_FILE = 1_500_000;

/** Seven orders have 28 lines, distributed like this; TPC-H draws 1 to 7 at random, with the same mean of 4. */
const LINES_OF_ORDER = [4, 1, 7, 3, 5, 2, 6];
const LINES = LINES_OF_ORDER.reduce((sum, lines) => sum + lines, 0);

/** TPC-H's sparse keys: 8 used of every 32. */
const ORDER_KEY = "((o // 8) * 32 + o % 8 + 1)";
const ORDER_DATE = "(DATE '1992-01-01' + (hash(o) % 2406)::INTEGER)";

const ORDER_IN_GROUP = LINES_OF_ORDER.flatMap((lines, order) => Array.from({ length: lines }, () => order));
const LINE_NUMBER = LINES_OF_ORDER.flatMap((lines) => Array.from({ length: lines }, (_, line) => line + 1));

function lineitem(first: number, end: number): string {
  return `
WITH numbered AS (
  SELECT (i // ${LINES}) * ${LINES_OF_ORDER.length} + ${list(ORDER_IN_GROUP)}[1 + i % ${LINES}] AS o,
         ${list(LINE_NUMBER)}[1 + i % ${LINES}] AS line,
         hash(i) AS h, hash(i + 1000000000000) AS g, hash(i + 2000000000000) AS c
  FROM range(${first}, ${end}) AS rows(i)
), drawn AS (
  SELECT *, ${uniform("h", 0, 1, 2_000_000)} AS part, ${uniform("h", 24, 1, 50)} AS quantity,
         ${ORDER_DATE} + (${uniform("g", 0, 1, 121)})::INTEGER AS shipped
  FROM numbered
), dated AS (
  SELECT *, shipped + (${uniform("g", 20, 1, 30)})::INTEGER AS received
  FROM drawn
)
SELECT
  ${ORDER_KEY} AS l_orderkey,
  part AS l_partkey,
  ${uniform("h", 32, 1, 100_000)} AS l_suppkey,
  line::INTEGER AS l_linenumber,
  quantity::DOUBLE AS l_quantity,
  quantity * (90000 + (part // 10) % 20001 + 100 * (part % 1000)) / 100 AS l_extendedprice,
  ((h >> 50) % 11)::DOUBLE / 100 AS l_discount,
  ((h >> 56) % 9)::DOUBLE / 100 AS l_tax,
  CASE WHEN received > DATE '1995-06-17' THEN 'N' ELSE ${pick(["R", "A"], "g", 8)} END AS l_returnflag,
  CASE WHEN shipped > DATE '1995-06-17' THEN 'O' ELSE 'F' END AS l_linestatus,
  shipped AS l_shipdate,
  ${ORDER_DATE} + (${uniform("g", 12, 30, 90)})::INTEGER AS l_commitdate,
  received AS l_receiptdate,
  ${pick(["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"], "g", 30)} AS l_shipinstruct,
  ${pick(["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"], "g", 36)} AS l_shipmode,
  ${comment("c", 43)} AS l_comment
FROM dated`;
}

function orders(first: number, end: number): string {
  return `
WITH numbered AS (
  SELECT o, hash(o + 3000000000000) AS h, hash(o + 4000000000000) AS c, ${ORDER_DATE} AS ordered
  FROM range(${first}, ${end}) AS rows(o)
)
SELECT
  ${ORDER_KEY} AS o_orderkey,
  ${uniform("h", 0, 1, 1_500_000)} AS o_custkey,
  CASE WHEN ordered > DATE '1995-06-17' THEN 'O' WHEN ordered < DATE '1995-02-16' THEN 'F' ELSE 'P' END AS o_orderstatus,
  (${uniform("h", 20, 85_000, 55_000_000)}) / 100 AS o_totalprice,
  ordered AS o_orderdate,
  ${pick(["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"], "h", 46)} AS o_orderpriority,
  'Clerk#' || lpad((${uniform("h", 50, 1, 10_000)})::VARCHAR, 9, '0') AS o_clerk,
  0::INTEGER AS o_shippriority,
  ${comment("c", 78)} AS o_comment
FROM numbered`;
}

/** A query for rows [first, end) of a table. */
export function tableSql(table: FlatTable, first: number, end: number): string {
  return table === "lineitem" ? lineitem(first, end) : orders(first, end);
}

/** How many rows a table has if lineitem has this many: orders contains exactly the orders of these lines. */
export function tableRows(table: FlatTable, lineitems: number): number {
  if (table === "lineitem") {
    return lineitems;
  }
  const last = lineitems - 1;
  return Math.floor(last / LINES) * LINES_OF_ORDER.length + (ORDER_IN_GROUP[last % LINES] ?? 0) + 1;
}
