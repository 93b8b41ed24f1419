/**
 * Tables and results of very many columns. A vector of the kernel has room for 2,048 values whatever it holds, and
 * every operator has its own for each column: reading 5,000 columns and writing them takes 90 kB a column, 460 MB. Only
 * what is touched takes memory, so where this side decides how many rows come at a time, wide rows come in smaller
 * chunks.
 */
import { MANY_COLUMNS } from "../arrow/index.ts";

/** DuckDB's vector size: no chunk has more rows than this. */
const CHUNK_ROWS = 2048;
/** Chunks of one kind are at most this large: with 5,000 columns of eight bytes, 256 rows. */
const CHUNK_VALUES = MANY_COLUMNS * 1_280;
/** Slices of bitmaps begin at a byte. */
const MULTIPLE = 64;
/** Bytes that the kernel counts for each column: the vectors of a few operators, at 16 bytes a value. */
const COUNTED_PER_COLUMN = 4 * CHUNK_ROWS * 16;

/** How many rows of a table with so many columns are shown to the kernel at a time. */
export function chunkRows(columns: number): number {
  if (columns <= MANY_COLUMNS) return CHUNK_ROWS;
  return Math.max(MULTIPLE, Math.floor(CHUNK_VALUES / columns / MULTIPLE) * MULTIPLE);
}

/** What a kernel's limit counts for vectors of so many columns, of which small chunks touch a small part. */
export function countedForVectors(columns: number): number {
  return columns <= MANY_COLUMNS ? 0 : columns * COUNTED_PER_COLUMN;
}

/** About how many columns a statement makes: never fewer than the expressions that it names, up to `most`. */
export function namedColumns(sql: string, most: number): number {
  let count = 0;
  for (let at = sql.indexOf(" AS "); at >= 0 && count < most; at = sql.indexOf(" AS ", at + 1)) count++;
  return count;
}
