/** Regions, nations, suppliers and customers, as SQL. */
import { comment, pick, uniform } from "../draw.ts";
import { NATIONS, REGIONS, SEGMENTS } from "./domains.ts";
import type { TpchSize } from "./size.ts";

export function region(): string {
  const rows = REGIONS.map((name, key) => `(${key}, '${name}')`);
  return `
SELECT key::BIGINT AS r_regionkey, name AS r_name, ${comment("hash(key, 'region')", 115)} AS r_comment
FROM (VALUES ${rows.join(", ")}) AS regions(key, name)`;
}

export function nation(): string {
  const rows = NATIONS.map(([name, of], key) => `(${key}, '${name}', ${of})`);
  return `
SELECT key::BIGINT AS n_nationkey, name AS n_name, of::BIGINT AS n_regionkey, ${comment("hash(key, 'nation')", 114)} AS n_comment
FROM (VALUES ${rows.join(", ")}) AS nations(key, name, of)`;
}

const address = (hash: string): string => `left(md5(${hash}::VARCHAR), (${uniform(hash, 30, 10, 30)})::INTEGER)`;
/** The number begins with the country: its nation's key plus ten. */
const phone = (nationKey: string, hash: string): string =>
  `(${nationKey} + 10) || '-' || (${uniform(hash, 8, 100, 999)}) || '-' || (${uniform(hash, 20, 100, 999)}) || '-' || (${uniform(hash, 32, 1000, 9999)})`;
const balance = (hash: string): string =>
  `((${uniform(hash, 40, -99_999, 999_999)})::DECIMAL(15, 2) * 0.01)::DECIMAL(15, 2)`;
const numbered = (kind: string, first: number, end: number): string =>
  `SELECT i + 1 AS key, hash(i, '${kind}') AS h, (hash(i, '${kind} nation') % ${NATIONS.length})::BIGINT AS nation FROM range(${first}, ${end}) AS rows(i)`;

/** One supplier in a hundred has complaints, another one praise: query 16 leaves out the former. */
export function supplier(_size: TpchSize, first: number, end: number): string {
  return `
WITH numbered AS (${numbered("supplier", first, end)})
SELECT
  key AS s_suppkey,
  'Supplier#' || lpad(key::VARCHAR, 9, '0') AS s_name,
  ${address("h")} AS s_address,
  nation AS s_nationkey,
  ${phone("nation", "h")} AS s_phone,
  ${balance("h")} AS s_acctbal,
  CASE key % 100
    WHEN 17 THEN ${comment("h", 30)} || ' Customer ' || ${comment("h", 20)} || ' Complaints'
    WHEN 63 THEN ${comment("h", 30)} || ' Customer ' || ${comment("h", 20)} || ' Recommends'
    ELSE ${comment("h", 100)}
  END AS s_comment
FROM numbered`;
}

export function customer(_size: TpchSize, first: number, end: number): string {
  return `
WITH numbered AS (${numbered("customer", first, end)})
SELECT
  key AS c_custkey,
  'Customer#' || lpad(key::VARCHAR, 9, '0') AS c_name,
  ${address("h")} AS c_address,
  nation AS c_nationkey,
  ${phone("nation", "h")} AS c_phone,
  ${balance("h")} AS c_acctbal,
  ${pick(SEGMENTS, "h", 4)} AS c_mktsegment,
  ${comment("hash(key, 'customer comment')", 117)} AS c_comment
FROM numbered`;
}
