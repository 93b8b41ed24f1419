import { expect, test } from "vitest";
import { parseCompareOptions } from "../../bench/compare/options.ts";

const WORKLOADS = ["sort", "tiny-tasks"];
const parse = (...args: string[]) => parseCompareOptions(args, WORKLOADS);

test("a commit alone: every workload, 15 pairs, each at its own scale, no limit", () => {
  expect(parse("HEAD~1")).toEqual({ base: "HEAD~1", only: null, pairs: 15, rows: null, isJson: false, limit: null });
});

test("options stand before or after the commit", () => {
  const wanted = { base: "91f0f01", only: ["tiny-tasks"], pairs: 30, rows: 2_000_000, isJson: true, limit: 1.02 };
  const options = ["--only", "tiny-tasks", "--pairs", "30", "--rows", "2e6", "--json", "--limit", "1.02"];
  expect(parse("91f0f01", ...options)).toEqual(wanted);
  expect(parse(...options, "91f0f01")).toEqual(wanted);
});

test("help needs no commit; all else needs exactly one", () => {
  expect(parse("--help")).toBeNull();
  expect(() => parse()).toThrow("One commit to compare with is needed, such as HEAD~1; there are 0.");
  expect(() => parse("main", "HEAD")).toThrow("there are 2");
});

test("an unknown workload or option is refused", () => {
  expect(() => parse("HEAD", "--only", "q1")).toThrow('no workload "q1"; there are sort, tiny-tasks');
  expect(() => parse("HEAD", "--runs", "3")).toThrow("--runs");
});

test("a limit is a ratio, and takes as many pairs as an interval of 95 % does", () => {
  expect(() => parse("HEAD", "--limit", "2 %")).toThrow('--limit takes a ratio above 0, such as 1.02; "2 %" is none.');
  expect(() => parse("HEAD", "--limit", "1.02", "--pairs", "5")).toThrow("--limit takes 6 pairs or more");
  expect(parse("HEAD", "--limit", "1.02", "--pairs", "6")).toMatchObject({ limit: 1.02, pairs: 6 });
});

test("pairs are a count within what the statistics can take", () => {
  expect(() => parse("HEAD", "--pairs", "0")).toThrow("--pairs takes a whole number above 0");
  expect(() => parse("HEAD", "--pairs", "1001")).toThrow("--pairs takes at most 1000");
});
