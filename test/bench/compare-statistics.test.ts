import { expect, test } from "vitest";
import { isSlower } from "../../bench/compare/report.ts";
import { comparisonOf, FEWEST_PAIRS, MOST_PAIRS, medianInterval } from "../../bench/compare/statistics.ts";
import { COMPARED } from "../../bench/compare/workloads.ts";

/** 1, 2, … n: a value is its own rank. */
const ranks = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

// From tables of confidence intervals for a median.
test.each([
  { n: 6, low: 1, coverage: 0.969 },
  { n: 8, low: 1, coverage: 0.992 },
  { n: 9, low: 2, coverage: 0.961 },
  { n: 15, low: 4, coverage: 0.965 },
  { n: 20, low: 6, coverage: 0.959 },
  { n: 30, low: 10, coverage: 0.957 },
  { n: 100, low: 40, coverage: 0.965 },
])("of $n values the interval begins with value $low and covers $coverage", ({ n, low, coverage }) => {
  const interval = medianInterval(ranks(n));
  expect(interval).toMatchObject({ low, high: n + 1 - low });
  expect(interval.coverage).toBeCloseTo(coverage, 3);
});

test("too few values for 95 % are all taken, and their coverage is told", () => {
  expect(medianInterval([3, 1, 2])).toEqual({ low: 1, high: 3, coverage: 0.75 });
  expect(medianInterval([2])).toEqual({ low: 2, high: 2, coverage: 0 });
  expect(medianInterval(ranks(FEWEST_PAIRS - 1)).coverage).toBeLessThan(0.95);
  expect(medianInterval(ranks(FEWEST_PAIRS)).coverage).toBeGreaterThan(0.95);
});

test("as many pairs as there may be give an interval around the middle", () => {
  const { low, high, coverage } = medianInterval(ranks(MOST_PAIRS));
  expect([low, high]).toEqual([469, 532]);
  expect(coverage).toBeGreaterThan(0.95);
  expect(coverage).toBeLessThan(0.96);
});

test("the interval covers the true median as often as it says", () => {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  let covered = 0;
  const times = 4000;
  for (let i = 0; i < times; i++) {
    // Lopsided, as noise of CPU times is: the median of squares is 1/4.
    const { low, high } = medianInterval(Array.from({ length: 15 }, () => random() ** 2));
    covered += low <= 0.25 && 0.25 <= high ? 1 : 0;
  }
  expect(covered / times).toBeGreaterThan(0.955);
  expect(covered / times).toBeLessThan(0.975);
});

test("ratios are those of pairs, so that a machine that gets slower changes nothing", () => {
  const pairs = [1, 2, 4, 8, 16, 32].map((slowness) => ({ base: slowness, current: slowness * 1.5 }));
  const comparison = comparisonOf(pairs);
  expect(comparison).toMatchObject({ base: 6, current: 9, median: 1.5, interval: { low: 1.5, high: 1.5 } });
  expect(comparison.ratios).toEqual([1.5, 1.5, 1.5, 1.5, 1.5, 1.5]);
});

test("one run that a busy machine made dear does not make a build slower", () => {
  const pairs = [...ranks(14).map(() => ({ base: 1, current: 1 })), { base: 1, current: 9 }];
  expect(comparisonOf(pairs)).toMatchObject({ median: 1, interval: { low: 1, high: 1 } });
});

test("slower than a limit is what lies above it with the whole interval", () => {
  const [workload] = COMPARED;
  if (workload === undefined) throw new Error("There are no workloads.");
  const slower = (ratios: readonly number[], limit: number) =>
    isSlower({ workload, comparison: comparisonOf(ratios.map((ratio) => ({ base: 1, current: ratio }))) }, limit);
  expect(slower([1.03, 1.03, 1.04, 1.04, 1.05, 1.05], 1.02)).toBe(true);
  expect(slower([1.02, 1.03, 1.04, 1.04, 1.05, 1.05], 1.02)).toBe(false);
});
