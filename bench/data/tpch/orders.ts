/**
 * Orders and their line items, as SQL over the numbers of orders. An order's total and status are computed from its
 * lines, so the two tables are consistent.
 */
import { comment, list, pick, uniform } from "../draw.ts";
import { INSTRUCTIONS, MODES, PRIORITIES } from "./domains.ts";
import { retailPrice, supplierOfPart } from "./parts.ts";
import type { TpchSize } from "./size.ts";

/** The first day with an order, the first day without, and the day that separates shipped lines from open ones. */
const FIRST_DAY = "DATE '1992-01-01'";
const DAYS = 2406;
const TODAY = "DATE '1995-06-17'";

/** Seven orders in a row have 28 lines, the average of TPC-H. */
const LINES_OF_ORDER = [4, 1, 7, 3, 5, 2, 6];
/** One order in this many is large enough for query 18, which would otherwise find none at a small scale. */
const LARGE_ORDERS = 4999;

/** TPC-H's sparse keys: 8 used of every 32. */
const ORDER_KEY = "((o // 8) * 32 + o % 8 + 1)";

/** `(o, line, …)`: everything that both tables need of a line. */
function lines(size: TpchSize, first: number, end: number): string {
  return `
numbered AS (
  SELECT o, o % ${LARGE_ORDERS} = 0 AS large, hash(o, 'order') AS d,
         unnest(range(1, 1 + CASE WHEN o % ${LARGE_ORDERS} = 0 THEN 7 ELSE ${list(LINES_OF_ORDER)}[1 + o % 7] END)) AS line
  FROM range(${first}, ${end}) AS rows(o)
), hashed AS (
  SELECT *, hash(o, line, 'line') AS h, hash(o, line, 'dates') AS g, ${FIRST_DAY} + (d % ${DAYS})::INTEGER AS ordered
  FROM numbered
), drawn AS (
  SELECT *, ${uniform("h", 0, 1, size.parts)} AS part,
         CASE WHEN large THEN ${uniform("h", 24, 44, 50)} ELSE ${uniform("h", 24, 1, 50)} END AS quantity,
         (${uniform("h", 50, 0, 10)}) AS discount, (${uniform("h", 56, 0, 8)}) AS tax,
         ordered + (${uniform("g", 0, 1, 121)})::INTEGER AS shipped
  FROM hashed
), lines AS (
  SELECT *, (quantity * ${retailPrice("part")})::DECIMAL(15, 2) AS price,
         shipped + (${uniform("g", 20, 1, 30)})::INTEGER AS received
  FROM drawn
)`;
}

const hundredths = (value: string): string => `(${value}::DECIMAL(15, 2) * 0.01)::DECIMAL(15, 2)`;

/** The lines of the orders [first, end). */
export function lineitem(size: TpchSize, first: number, end: number): string {
  return `
WITH ${lines(size, first, end)}
SELECT
  ${ORDER_KEY} AS l_orderkey,
  part AS l_partkey,
  ${supplierOfPart("part", "((h >> 40) % 4)::BIGINT", size)} AS l_suppkey,
  line::INTEGER AS l_linenumber,
  quantity::DECIMAL(15, 2) AS l_quantity,
  price AS l_extendedprice,
  ${hundredths("discount")} AS l_discount,
  ${hundredths("tax")} AS l_tax,
  CASE WHEN received > ${TODAY} THEN 'N' ELSE ${pick(["R", "A"], "g", 8)} END AS l_returnflag,
  CASE WHEN shipped > ${TODAY} THEN 'O' ELSE 'F' END AS l_linestatus,
  shipped AS l_shipdate,
  ordered + (${uniform("g", 12, 30, 90)})::INTEGER AS l_commitdate,
  received AS l_receiptdate,
  ${pick(INSTRUCTIONS, "g", 30)} AS l_shipinstruct,
  ${pick(MODES, "g", 36)} AS l_shipmode,
  ${comment("hash(o, line, 'comment')", 43)} AS l_comment
FROM lines
ORDER BY o, line`;
}

/** The orders [first, end). Customers whose key is a multiple of three never order anything. */
export function orders(size: TpchSize, first: number, end: number): string {
  const buyer = uniform("d", 12, 0, Math.floor((size.customers * 2) / 3) - 1);
  return `
WITH ${lines(size, first, end)}, summed AS (
  SELECT o, d, ordered,
         sum(price * (100 + tax) * (100 - discount)) AS total,
         count(*) FILTER (WHERE shipped > ${TODAY}) AS open, count(*) AS lines
  FROM lines
  GROUP BY o, d, ordered
), bought AS (
  SELECT *, ${buyer} AS buyer, hash(o, 'words') AS c FROM summed
)
SELECT
  ${ORDER_KEY} AS o_orderkey,
  (buyer // 2) * 3 + buyer % 2 + 1 AS o_custkey,
  CASE open WHEN 0 THEN 'F' WHEN lines THEN 'O' ELSE 'P' END AS o_orderstatus,
  round(total * 0.0001, 2)::DECIMAL(15, 2) AS o_totalprice,
  ordered AS o_orderdate,
  ${pick(PRIORITIES, "d", 46)} AS o_orderpriority,
  'Clerk#' || lpad((${uniform("d", 50, 1, 1000)})::VARCHAR, 9, '0') AS o_clerk,
  0::INTEGER AS o_shippriority,
  CASE WHEN c % 97 = 0 THEN 'special ' || ${comment("c", 40)} || ' requests' ELSE ${comment("c", 78)} END AS o_comment
FROM bought
ORDER BY o`;
}
