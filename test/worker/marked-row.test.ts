/** Rows that a function spreads and extends must come out alike for the engine, or everything after is slow. */
import { setFlagsFromString } from "node:v8";
import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { columnsToBatch } from "../../src/arrow/index.ts";
import type { Link, TaskScope } from "../../src/worker/link.ts";
import { Failures } from "../../src/worker/steps/failures.ts";
import { isMarked } from "../../src/worker/steps/marked-row.ts";
import { RowFunctionStep } from "../../src/worker/steps/row-function.ts";

setFlagsFromString("--allow-natives-syntax");
const haveSameMap = runInThisContext("(a, b) => %HaveSameMap(a, b)") as (a: object, b: object) => boolean;

test("[A1] rows spread and extended share one hidden class, and look as they should", async () => {
  const scope: TaskScope = { check: () => {}, turn: () => {}, files: [], errored: () => {}, blamesRows: false };
  const failures = new Failures("map", "fail", (stack) => stack, scope, null);
  const nowhere: Link = {
    wanted: Number.POSITIVE_INFINITY,
    takesEach: true,
    push: () => {},
    end: () => {},
    close: () => {},
  };
  const given: object[] = [];
  const made: object[] = [];
  const step = new RowFunctionStep(
    {
      form: "map",
      call: (row) => {
        given.push(row as object);
        const more = { ...(row as object), more: 1 };
        made.push(more);
        return more;
      },
      values: {},
      declared: undefined,
      passes: undefined,
      maxInFlight: 1,
    },
    failures,
    nowhere,
    scope,
  );
  const rows = 2000;
  await step.push(
    columnsToBatch({ a: Float64Array.from({ length: rows }, (_, i) => i + 0.5), b: Array(rows).fill("x") }),
  );
  await step.end();
  expect(made.slice(-500).every((row) => haveSameMap(row, made.at(-1) ?? {}))).toBe(true);
  expect(isMarked(given[0] ?? {})).toBe(Number.parseInt(process.versions.v8, 10) < 12);
  expect(isMarked(given.at(-1) ?? {})).toBe(false);
  for (const i of [0, 1, rows - 1]) {
    expect(Reflect.ownKeys(given[i] ?? {})).toEqual(["a", "b"]);
    expect(given[i]).toStrictEqual({ a: i + 0.5, b: "x" });
    expect(Object.getPrototypeOf(given[i])).toBe(Object.prototype);
  }
});
