import { expect, test } from "vitest";
import { parseOptions } from "../../bench/options.ts";

const WORKLOADS = ["etl", "row-function"];

test("every workload and engine is on by default", () => {
  expect(parseOptions([], WORKLOADS)).toMatchObject({ only: null, rows: null, engines: { length: 7 }, box: null });
});

test("rows are written as people write large numbers", () => {
  expect(parseOptions(["--rows", "1e6"], WORKLOADS)?.rows).toBe(1_000_000);
  expect(parseOptions(["--rows", "6_000_000"], WORKLOADS)?.rows).toBe(6_000_000);
  expect(() => parseOptions(["--rows", "some"], WORKLOADS)).toThrow("--rows takes a whole number above 0");
});

test("--no-peers leaves out Python, not DuckDB", () => {
  expect(parseOptions(["--no-peers"], WORKLOADS)?.engines).toEqual(["spillway", "unboxed", "duckdb"]);
});

test("an unknown workload is refused with those there are", () => {
  expect(() => parseOptions(["--only", "etl,rows"], WORKLOADS)).toThrow(
    'no workload "rows"; there are etl, row-function',
  );
});

test("a box has a size with a unit", () => {
  expect(parseOptions(["--box", "2GiB"], WORKLOADS)?.box).toBe(2 ** 31);
  expect(() => parseOptions(["--box", "2"], WORKLOADS)).toThrow("--box takes a size");
});
