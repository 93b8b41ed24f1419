/**
 * The limits that DuckDB is given in a box. Its own limit covers its buffers but not everything that it allocates, and
 * Node needs some memory, too; the rest of the box is for these. Spillway finds the box's limit by itself.
 */
import type { Bytes } from "./workload.ts";

const NODE: Bytes = 64 * 2 ** 20;
const OF_THE_REST = 0.65;

export function duckdbLimit(box: Bytes): Bytes {
  return Math.floor((box - NODE) * OF_THE_REST);
}
