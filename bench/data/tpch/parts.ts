/** Parts and their suppliers, as SQL over the parts' keys. */
import { comment, list, pick, uniform } from "../draw.ts";
import { COLOURS, CONTAINERS, TYPES } from "./domains.ts";
import type { TpchSize } from "./size.ts";

/** A DECIMAL(15, 2) that depends on the part's key alone. */
export const retailPrice = (part: string): string =>
  `((90000 + (${part} // 10) % 20001 + 100 * (${part} % 1000))::DECIMAL(15, 2) * 0.01)::DECIMAL(15, 2)`;

/** The keys of a part's suppliers 0 to 3, which all differ: TPC-H's own formula. */
export const supplierOfPart = (part: string, number: string, { suppliers }: TpchSize): string =>
  `(${part} + ${number} * (${suppliers} // 4 + (${part} - 1) // ${suppliers})) % ${suppliers} + 1`;

/** Colours at equal distances, at most a quarter of the list apart, are always five different ones. */
const NAME = [0, 1, 2, 3, 4]
  .map((n) => `${list(COLOURS)}[1 + ((h + ${n} * (1 + (h >> 20) % 22)) % ${COLOURS.length})::INTEGER]`)
  .join(" || ' ' || ");

export function part(_size: TpchSize, first: number, end: number): string {
  const type = TYPES.map((words, n) => pick(words, "g", 8 * n)).join(" || ' ' || ");
  const container = CONTAINERS.map((words, n) => pick(words, "g", 24 + 8 * n)).join(" || ' ' || ");
  return `
WITH numbered AS (
  SELECT i + 1 AS p, hash(i, 'name') >> 1 AS h, hash(i, 'part') AS g FROM range(${first}, ${end}) AS rows(i)
), made AS (
  SELECT *, ${uniform("g", 40, 1, 5)} AS maker, ${uniform("g", 44, 1, 5)} AS brand FROM numbered
)
SELECT
  p AS p_partkey,
  ${NAME} AS p_name,
  'Manufacturer#' || maker AS p_mfgr,
  'Brand#' || maker || brand AS p_brand,
  ${type} AS p_type,
  (${uniform("g", 50, 1, 50)})::INTEGER AS p_size,
  ${container} AS p_container,
  ${retailPrice("p")} AS p_retailprice,
  ${comment("hash(p, 'part comment')", 22)} AS p_comment
FROM made`;
}

/** Four rows for each part. */
export function partsupp(size: TpchSize, first: number, end: number): string {
  return `
WITH numbered AS (
  SELECT i // 4 + 1 AS p, i % 4 AS n, hash(i, 'supply') AS h FROM range(${first}, ${end}) AS rows(i)
)
SELECT
  p AS ps_partkey,
  ${supplierOfPart("p", "n", size)} AS ps_suppkey,
  (${uniform("h", 0, 1, 9999)})::INTEGER AS ps_availqty,
  ((${uniform("h", 20, 100, 100_000)})::DECIMAL(15, 2) * 0.01)::DECIMAL(15, 2) AS ps_supplycost,
  ${comment("hash(p, n, 'supply comment')", 120)} AS ps_comment
FROM numbered`;
}
