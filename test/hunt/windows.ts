/** Windows whose value does not depend on which of two equal rows comes first. */
import { col, count, denseRank, type Expr, rank } from "spillway";
import { type Any, keysIn, type Maker, NO_ORDER, named, quoted, quotedList } from "../end-to-end/differential/step.ts";

interface Computed {
  readonly expr: Any;
  readonly sql: string;
  /** Whether it means nothing without an order. */
  readonly ordered: boolean;
}

export const WINDOWS: readonly Maker[] = [
  function window({ columns, known }, choice) {
    const numbers = named(columns, "number");
    const keys = keysIn(columns);
    if (keys.length === 0) return null;
    const computed: Computed[] = [
      { expr: rank(), sql: "rank()", ordered: true },
      { expr: denseRank(), sql: "dense_rank()", ordered: true },
      { expr: count(), sql: "count(*)", ordered: false },
    ];
    if (numbers.length > 0) {
      const name = choice.of(numbers);
      computed.push(
        { expr: col(name).sum(), sql: `sum(${quoted(name)})`, ordered: false },
        { expr: col(name).max(), sql: `max(${quoted(name)})`, ordered: false },
      );
    }
    const { expr, sql, ordered } = choice.of(computed);
    const partitionBy = choice.chance(3) ? [] : choice.some(keys, 2);
    const orderBy = ordered || choice.chance(2) ? choice.some(keys, 2) : [];
    const descending = choice.chance(2);
    const by = orderBy.map((key) => `${quoted(key)} ${descending ? "DESC" : "ASC"} NULLS LAST`).join(", ");
    const over = [
      ...(partitionBy.length > 0 ? [`PARTITION BY ${quotedList(partitionBy)}`] : []),
      ...(orderBy.length > 0 ? [`ORDER BY ${by}`] : []),
    ].join(" ");
    const options = {
      ...(partitionBy.length > 0 ? { partitionBy } : {}),
      ...(orderBy.length > 0 ? { orderBy, descending } : {}),
    };
    if (columns.has("seen")) return null;
    const value: Expr<Any, Any, Any> = expr.over(options);
    const condition = choice.chance(4);
    return {
      name: `${condition ? "where" : "withColumn"}(${sql} OVER (${over}))`,
      apply: (ds) => (condition ? ds.where(value.le(2)) : ds.withColumn("seen", value)),
      sql: (input) =>
        condition
          ? `SELECT * EXCLUDE (seen) FROM (SELECT *, ${sql} OVER (${over}) AS seen FROM ${input}) WHERE seen <= 2`
          : `SELECT *, ${sql} OVER (${over}) AS seen FROM ${input}`,
      columns: condition ? columns : new Map([...columns, ["seen", "number"]]),
      order: NO_ORDER,
      known,
    };
  },
];
