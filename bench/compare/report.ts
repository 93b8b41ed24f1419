/** Comparisons as a table for the terminal. */
import { aligned } from "../report/index.ts";
import type { Workload } from "../workload.ts";
import type { Comparison } from "./statistics.ts";

export interface CompareResult {
  readonly workload: Workload;
  readonly comparison: Comparison;
}

const HEADER = ["workload", "rows", "base", "current", "ratio", "interval", "covers"] as const;

const counts = new Intl.NumberFormat("en-US");

export function compareTable(results: readonly CompareResult[]): string {
  return aligned(
    HEADER,
    results.map(({ workload, comparison: { base, current, median, interval } }) => [
      workload.name,
      counts.format(workload.rows),
      `${base.toFixed(2)} s`,
      `${current.toFixed(2)} s`,
      median.toFixed(3),
      `${interval.low.toFixed(3)} … ${interval.high.toFixed(3)}`,
      `${(interval.coverage * 100).toFixed(1)} %`,
    ]),
  );
}

export function isSlower({ comparison }: CompareResult, limit: number): boolean {
  return comparison.interval.low > limit;
}
