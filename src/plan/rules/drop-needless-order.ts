/**
 * Removes nodes that only change the order of rows or their partitions, if nothing above depends on it: a sort under
 * another sort, an aggregate, a window or a shuffle, and a repartition under any of these. Functions, limits and raw
 * SQL depend on the order, and keep it.
 */
import { aggregatesIn, type Expression, hasRaw, type NamedExpression } from "../expression/index.ts";
import { seesRowOrder } from "../partitions.ts";
import { inputsOf, type Plan, withInputs } from "../plan.ts";

/** What the nodes above depend on. */
interface Seen {
  readonly order: boolean;
  readonly partitions: boolean;
}

const ALL: Seen = { order: true, partitions: true };
const ORDER: Seen = { order: true, partitions: false };
const ROWS: Seen = { order: false, partitions: false };

export function dropNeedlessOrder(plan: Plan): Plan {
  return keep(plan, ALL);
}

function keep(plan: Plan, seen: Seen): Plan {
  switch (plan.kind) {
    case "sort":
    case "shuffle":
      return seen.order ? over(plan, ROWS) : keep(plan.input, ROWS);
    case "repartition": {
      // Repartitioning by keys also changes the order of rows.
      const byKeys = plan.into.kind === "keys";
      if (!seen.partitions && !(byKeys && seen.order)) return keep(plan.input, seen);
      return over(plan, byKeys ? ROWS : { order: seen.order, partitions: false });
    }
    case "aggregate":
      return over(plan, plan.items.some(seesOrder) ? ORDER : ROWS);
    case "window":
      return over(plan, seesRowOrder(plan) ? ORDER : ROWS);
    case "distinct":
      return over(plan, plan.columns === null ? ROWS : ORDER);
    case "join":
    case "zip":
      return over(plan, ORDER);
    case "function":
      return over(plan, plan.form === "mapGroups" ? ORDER : ALL);
    case "limit":
      return over(plan, { order: true, partitions: seen.partitions });
    case "project":
      return over(plan, rowByRow(plan.items.map(({ expression }) => expression)) ? seen : ALL);
    case "filter":
      return over(plan, rowByRow([plan.predicate]) ? seen : ALL);
    case "drop":
    case "rename":
    case "dropNull":
    case "explode":
    case "union":
      return over(plan, seen);
    default:
      return over(plan, ALL);
  }
}

function over(plan: Plan, seen: Seen): Plan {
  return withInputs(
    plan,
    inputsOf(plan).map((input) => keep(input, seen)),
  );
}

/** Raw SQL may number rows. */
function rowByRow(expressions: readonly Expression[]): boolean {
  return !expressions.some(hasRaw);
}

function seesOrder({ expression }: NamedExpression): boolean {
  return hasRaw(expression) || aggregatesIn(expression).some(({ name }) => name === "first" || name === "list");
}
