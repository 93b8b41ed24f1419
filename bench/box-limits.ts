/**
 * What DuckDB is told to keep to in a box. Its limit covers its buffers, not all that it allocates, and Node takes some
 * too; the rest of the box is for these. Spillway finds out about a box by itself.
 */
import type { Bytes } from "./workload.ts";

const NODE: Bytes = 64 * 2 ** 20;
const OF_THE_REST = 0.65;

export function duckdbLimit(box: Bytes): Bytes {
  return Math.floor((box - NODE) * OF_THE_REST);
}
