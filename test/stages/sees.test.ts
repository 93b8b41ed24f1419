/** Which columns of its tables the SQL of a fed task looks at, and when it may look at all. */
import { expect, test } from "vitest";
import { col } from "../../src/dataset/index.ts";
import {
  aggregate,
  aggregateOf,
  column,
  distinct,
  drop,
  filter,
  join,
  type Plan,
  project,
  raw,
  rename,
  shuffle,
  sort,
  union,
  zip,
} from "../../src/plan/index.ts";
import type { SeenColumns } from "../../src/protocol/index.ts";
import { buildStages, type Planning } from "../../src/stages/index.ts";
import { fn, unknownTable } from "../plan/fixtures.ts";

const file = unknownTable();
const rows = fn(file);
const by = (input: Plan, name: string) => sort(input, [{ expression: column(name), descending: false, nulls: "last" }]);
const joined = (left: Plan, right: Plan) =>
  join({ left, right, leftOn: ["a"], rightOn: ["b"], how: "inner", suffix: "_right" });

/** For each table of the last fed stage with SQL. */
async function seen(plan: Plan, planning: Partial<Planning> = {}) {
  const { stages } = await buildStages(plan, false, planning);
  const fed = stages.flatMap((stage) => (stage.kind === "tasks" && stage.input.kind === "fed" ? [stage.input] : []));
  return (fed.at(-1)?.tables ?? []).map(({ sees }) => told(sees));
}

/** Such as "read b, ordered a". */
function told(sees: SeenColumns | undefined): string {
  if (sees === undefined) return "all";
  const { read, matched, ordered } = sees;
  const parts = [["read", read] as const, ["matched", matched ?? ["*"]] as const, ["ordered", ordered] as const];
  return parts.flatMap(([what, names]) => (names.length > 0 ? [`${what} ${names.join("+")}`] : [])).join(", ");
}

test.each<readonly [string, Plan, readonly string[]]>([
  ["a sort asks for the order of its keys", by(rows, "a"), ["ordered a"]],
  ["a shuffle sees nothing", shuffle(rows, 1), [""]],
  ["a distinct matches its columns", distinct(rows, ["a"]), ["matched a"]],
  ["a distinct of whole rows matches all", distinct(rows, null), ["matched *"]],
  ["what is read above stays so", filter(distinct(rows, null), col("c").eq(1).expression), ["read c, matched *"]],
  ["a join sees the keys of each side", joined(rows, fn(file)), ["read a", "read b"]],
  ["a zip sees nothing", zip(rows, fn(file), "_right"), ["", ""]],
  ["a filter above adds its columns", filter(by(rows, "a"), col("c").eq(1).expression), ["read c, ordered a"]],
  [
    "a suffixed name may be the right side's",
    filter(joined(rows, fn(file)), col("c_right").eq(1).expression),
    ["read c_right+a", "read c_right+c+b"],
  ],
  [
    "a column that is only selected is handed on, also under another name",
    project(by(rows, "a"), "select", [{ name: "x", expression: column("d") }], "select"),
    ["ordered a"],
  ],
  [
    "a renamed column is seen by its own name",
    filter(rename(by(rows, "a"), new Map([["d", "x"]])), col("x").eq(1).expression),
    ["read d, ordered a"],
  ],
  ["a drop looks at nothing", drop(by(rows, "a"), ["d"]), ["ordered a"]],
  ["SQL that may name any column sees all", filter(by(rows, "a"), raw("COLUMNS(*) IS NOT NULL")), ["all"]],
  ["a union of two sorts sees all", by(union([by(rows, "a"), by(rows, "b")]), "c"), ["all", "all"]],
  [
    "an aggregate sees what it reads",
    aggregate(by(rows, "a"), [], [{ name: "n", expression: aggregateOf("max", column("c")) }]),
    ["read c, ordered a"],
  ],
])("[D1] %s", async (_, plan, expected) => {
  expect(await seen(plan)).toEqual(expected);
});

test("[D1] the tasks of an exchange see as much, and its map side sees all", async () => {
  const exchange: Partial<Planning> = { exchange: true, workers: 2, capacity: 2 ** 30 };
  expect(await seen(by(rows, "a"), exchange)).toEqual(["ordered a"]);
  expect(await seen(joined(rows, fn(file)), exchange)).toEqual(["read a", "read b"]);
  expect(await seen(filter(by(rows, "a"), col("c").eq(1).expression), exchange)).toEqual(["read c, ordered a"]);
  // The sort's task also computes the partition for the join above it.
  const { stages } = await buildStages(joined(by(rows, "c"), fn(file)), false, exchange);
  const scattering = stages.filter((stage) => stage.kind === "tasks" && stage.scatter !== null);
  for (const stage of scattering) {
    if (stage.kind !== "tasks" || stage.input.kind !== "fed") continue;
    expect(stage.input.tables.map(({ sees }) => sees)).toEqual([undefined]);
  }
});
