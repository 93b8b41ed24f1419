/**
 * A name in another case than a column's is refused at the end of any chain, whether or not its columns are known
 * before it runs.
 */
import { ok } from "node:assert/strict";
import { col, count, lit, OptionError, UnknownColumnError } from "spillway";
import type { End } from "../end-to-end/differential/endings.ts";
import type { Any } from "../end-to-end/differential/step.ts";

const USES: Readonly<Record<string, (ds: Any, name: string) => Any>> = {
  select: (ds, name) => ds.select(name),
  where: (ds, name) => ds.where(col(name).isNull()),
  withColumn: (ds, name) => ds.withColumn(name, lit(1)),
  renameAway: (ds, name) => ds.rename({ [name]: "away" }),
  drop: (ds, name) => ds.drop(name),
  dropNull: (ds, name) => ds.dropNull([name]),
  sort: (ds, name) => ds.sort(name),
  topN: (ds, name) => ds.topN(2, { by: name }),
  distinct: (ds, name) => ds.distinct(name),
  groupBy: (ds, name) => ds.groupBy(name).agg({ rows: count() }),
  agg: (ds, name) => ds.groupBy(lit(1).as("all")).agg({ one: col(name).first() }),
  over: (ds, name) => ds.withColumn("over", count().over({ partitionBy: name })),
  join: (ds, name) => ds.join(ds, { on: name, how: "semi" }),
};

export async function refusesOtherCase({ ds, chain, choice, reference }: Omit<End, "values" | "out">): Promise<void> {
  const inOther = (name: string) =>
    name.replace(/[a-z]/gi, (letter) => (letter < "a" ? letter.toLowerCase() : letter.toUpperCase()));
  const names = [...chain.columns.keys()].map(inOther).filter((name) => !chain.columns.has(name));
  // A function that gives no rows has no columns to hold the name against.
  if (names.length === 0 || reference.isEmpty(chain.table)) return;
  const [name, operator] = [choice.of(names), choice.of(Object.keys(USES))];
  const thrown: unknown = await Promise.resolve()
    .then(() => USES[operator]?.(ds, name).takeAll())
    .then(
      () => null,
      (error: unknown) => error,
    );
  const refused =
    thrown instanceof UnknownColumnError || (thrown instanceof OptionError && thrown.message.includes("only in case"));
  ok(refused, `${operator} of ${JSON.stringify(name)}, a column in another case, gave ${thrown ?? "rows"}`);
}
