/**
 * Computes a ratio, and how reliable it is, from pairs of CPU times. Order statistics only assume that pairs are
 * independent: a run that a busy machine made twice as expensive moves the median by one rank at most.
 */
import { median } from "../report/index.ts";

/** CPU seconds of two successive runs, one of each build. */
export interface Pair {
  readonly base: number;
  readonly current: number;
}

export interface Interval {
  readonly low: number;
  readonly high: number;
  /** The probability that the true median lies inside. */
  readonly coverage: number;
}

export interface Comparison {
  /** Medians of each build's runs, in CPU seconds. */
  readonly base: number;
  readonly current: number;
  /** Current / base, pair by pair. */
  readonly ratios: readonly number[];
  readonly median: number;
  readonly interval: Interval;
}

const COVERAGE = 0.95;
/** With fewer than 6 pairs, even the interval from the lowest to the highest ratio covers less than 95 %. */
export const FEWEST_PAIRS = 6;
/** 0.5 ** 1000 is still a number above 0. */
export const MOST_PAIRS = 1000;

export function comparisonOf(pairs: readonly Pair[]): Comparison {
  const ratios = pairs.map(({ base, current }) => current / base);
  return {
    base: medianOf(pairs.map(({ base }) => base)),
    current: medianOf(pairs.map(({ current }) => current)),
    ratios,
    median: medianOf(ratios),
    interval: medianInterval(ratios),
  };
}

/**
 * The interval from the k-th lowest to the k-th highest value, with the largest k that still covers 95 %. The true
 * median is below the k-th lowest value only if fewer than k of n values are below the median, and each value is below
 * it with a probability of one half. If 95 % cannot be reached, the interval has all values, with the coverage that
 * they have.
 */
export function medianInterval(values: readonly number[]): Interval {
  const sorted = [...values].sort((a, b) => a - b);
  const n = sorted.length;
  let rank = 1;
  /** The probability that exactly `rank` values are below the median. */
  let exactly = n * 0.5 ** n;
  /** The probability that fewer than `rank` are. */
  let fewer = 0.5 ** n;
  while (1 - 2 * (fewer + exactly) >= COVERAGE) {
    fewer += exactly;
    exactly *= (n - rank) / (rank + 1);
    rank += 1;
  }
  const [low, high] = [sorted[rank - 1], sorted[n - rank]];
  if (low === undefined || high === undefined) throw new Error("An interval takes one value or more.");
  return { low, high, coverage: 1 - 2 * fewer };
}

function medianOf(values: readonly number[]): number {
  const middle = median(values);
  if (middle === null) throw new Error("A median takes one value or more.");
  return middle;
}
