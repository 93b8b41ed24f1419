/** The rules over groups, joins and orders: an optimised plan gives the rows of the plan as it was written. */
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { col, count, lit, when } from "../../src/dataset/index.ts";
import { Kernel } from "../../src/kernel/index.ts";
import {
  aggregate,
  columnsOf,
  distinct,
  type Expression,
  filter,
  type JoinKind,
  join,
  limit,
  optimise,
  type Plan,
  project,
  rename,
  repartition,
  resolve,
  shuffle,
  sort,
  union,
} from "../../src/plan/index.ts";
import { openSource, table } from "./fixtures.ts";
import { referenceSql } from "./reference-sql.ts";

const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});
connection.all(`CREATE TABLE lefts AS
  SELECT CASE WHEN i % 5 = 0 THEN NULL ELSE i % 7 END::INTEGER AS a, 's' || (i % 4) AS b, i::BIGINT AS c FROM range(40) t(i)`);
connection.all(`CREATE TABLE rights AS
  SELECT CASE WHEN i % 6 = 0 THEN NULL ELSE i % 9 END::INTEGER AS a, CASE WHEN i % 3 = 0 THEN NULL ELSE 's' || (i % 5) END AS b,
    (i * 2)::BIGINT AS c, (i % 4)::DOUBLE AS d FROM range(25) t(i)`);
const typed = (names: Readonly<Record<string, string>>) =>
  openSource(Object.entries(names).map(([name, type]) => ({ name, type })));
const lefts = table("lefts", typed({ a: "INTEGER", b: "VARCHAR", c: "BIGINT" }));
const rights = table("rights", typed({ a: "INTEGER", b: "VARCHAR", c: "BIGINT", d: "DOUBLE" }));

const named = (name: string, { expression }: { expression: Expression }) => ({ name, expression });
/** Back to the columns a, b and c, so that any operator can follow any other. */
const back = (input: Plan, c: string) =>
  project(input, "select", [named("a", col("a")), named("b", col("b")), named("c", col(c).cast("BIGINT"))], "select");
const kinds: readonly JoinKind[] = ["inner", "left", "right", "full", "semi", "anti"];
const keyed: readonly (readonly [readonly string[], readonly string[], string])[] = [
  [["a"], ["a"], "c_right"],
  [["b"], ["b"], "a_right"],
  [["a", "b"], ["a", "b"], "d"],
  // Keys of different types: a condition on them is asked of the left alone.
  [["a"], ["d"], "c_right"],
  [["c"], ["a"], "d"],
];
const conditions: readonly ((n: number) => { expression: Expression })[] = [
  (n) => col("a").gt(n % 7),
  (n) => col("b").ne(`s${n % 4}`),
  (n) => col("c").lt(n).and(col("a").isNotNull()),
  () => col("a").isNull(),
  (n) =>
    col("c")
      .isNull()
      .or(col("b").eq(`s${n % 4}`)),
  (n) => when(col("a").gt(2)).then(col("c").gt(n)).otherwise(true),
  (n) => col("a").add(col("c")).gt(n),
];
const condition = (n: number): Expression => (conditions[n % conditions.length] ?? (() => lit(true)))(n).expression;

function joined(input: Plan, n: number, wanted?: JoinKind): Plan {
  const how = wanted ?? kinds[n % kinds.length] ?? "inner";
  const [leftOn, rightOn, c] = keyed[n % keyed.length] ?? [["a"], ["a"], "d"];
  const node = join({ left: input, right: rights, leftOn, rightOn, how, suffix: "_right" });
  const fewer = how === "semi" || how === "anti" ? node : filter(node, col(c).isNull().or(col(c).ne(n)).expression);
  return back(fewer, how === "semi" || how === "anti" ? "c" : c);
}

const all = ["a", "b", "c"];
const sorted = (input: Plan, n: number) =>
  sort(
    input,
    all.map((name, i) => ({
      expression: col(name).expression,
      descending: (n >> i) % 2 === 1,
      nulls: n % 2 === 0 ? "first" : "last",
    })),
  );

const operators: Readonly<Record<string, (input: Plan, n: number) => Plan>> = {
  filter: (input, n) => filter(input, condition(n)),
  filterAgain: (input, n) => filter(input, condition(n * 3 + 1)),
  join: (input, n) => joined(input, n),
  joinLeft: (input, n) => joined(input, n, "left"),
  joinFull: (input, n) => joined(input, n, "full"),
  joinUnder: (input, n) =>
    back(
      join({ left: rights, right: input, leftOn: ["a"], rightOn: ["a"], how: kinds[n % 4] ?? "inner", suffix: "2" }),
      n % 2 === 0 ? "c2" : "c",
    ),
  cross: (input, n) =>
    back(
      filter(
        join({
          left: limit(sorted(input, n), 0, 3),
          right: rights,
          leftOn: [],
          rightOn: [],
          how: "cross",
          suffix: "_r",
        }),
        col("c_r").gt(n).expression,
      ),
      "c_r",
    ),
  group: (input, n) =>
    back(
      aggregate(
        input,
        [named("a", n % 2 === 0 ? col("a") : col("a").modulo(3)), named("b", col("b"))],
        [
          named(
            "c",
            n % 3 === 0
              ? count()
              : col("c")
                  .sum()
                  .add(col("c").max().where(col("c").lt(n))),
          ),
        ],
      ),
      "c",
    ),
  total: (input) =>
    aggregate(
      input,
      [],
      all.map((name) => named(name, col(name).max())),
    ),
  distinct: (input) => distinct(input, null),
  distinctSome: (input) =>
    project(
      distinct(input, ["a", "b"]),
      "select",
      [named("a", col("a")), named("b", col("b")), named("c", lit(1n))],
      "select",
    ),
  sort: sorted,
  top: (input, n) => limit(project(sorted(input, n), "with", [named("c", col("c").add(1))], "withColumn"), n % 3, n),
  shuffle: (input, n) => shuffle(input, n),
  repartition: (input) => repartition(input, { kind: "parts", count: 3 }),
  rename: (input, n) =>
    rename(filter(rename(input, new Map([["a", "k"]])), col("k").lt(n).expression), new Map([["k", "a"]])),
  union: (input, n) => union([filter(input, condition(n)), sorted(input, n)]),
  add: (input, n) => project(input, "with", [named("c", col("c").add(n))], "withColumn"),
};

const rowsOf = (plan: Plan): readonly string[] =>
  connection
    .all(referenceSql(plan))
    .map((row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value)))
    .sort();

test("[D6] the rules never change what groups, joins and orders give", async () => {
  const step = fc.tuple(fc.constantFrom(...Object.keys(operators)), fc.nat({ max: 30 }));
  const types = async (plan: Plan) =>
    connection
      .all(`DESCRIBE ${referenceSql(plan)}`)
      .map((row) => ({ name: String(row.column_name), type: String(row.column_type) }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 6 }), fc.subarray(all, { minLength: 1 }), async (steps, wanted) => {
      let plan: Plan = lefts;
      for (const [name, n] of steps) plan = operators[name]?.(plan, n) ?? plan;
      const last = project(
        plan,
        "select",
        wanted.map((name) => named(name, col(name))),
        "select",
      );
      const written = await resolve(last, types);
      const best = optimise(written);
      expect(rowsOf(best)).toEqual(rowsOf(written));
      expect(columnsOf(best)).toEqual(wanted);
    }),
    { numRuns: 400 },
  );
}, 60_000);
