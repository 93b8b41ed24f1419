/**
 * A relational node over what its inputs are, as SQL. Whoever walks the plan decides what stands at its leaves: files,
 * tables that are fed, typed nulls.
 */
import {
  type AggregateNode,
  type DistinctNode,
  type Expression,
  expressionSql,
  inputsOf,
  type LimitNode,
  literalSql,
  namedSql,
  type Plan,
  quoteIdentifier,
  type SortKey,
  type SortNode,
  substitute,
} from "../../plan/index.ts";
import { joined, zipped } from "./join.ts";
import { applyNode, isOpen, nested, type Select, selectFrom, selectSql, tableSql } from "./select.ts";

/** Nodes that SQL can say, whatever is below them. */
export type RegionNode = Exclude<Plan, { kind: "scan" | "function" | "repartition" | "fillNull" }>;

/** Nodes that look at all rows before they hand on the first. */
export type AllToAllNode = Extract<Plan, { kind: "aggregate" | "distinct" | "join" | "sort" | "shuffle" | "zip" }>;

export function isAllToAll(plan: Plan): plan is AllToAllNode {
  switch (plan.kind) {
    case "aggregate":
    case "distinct":
    case "join":
    case "sort":
    case "shuffle":
    case "zip":
      return true;
    default:
      return false;
  }
}

export function isRegionNode(plan: Plan): plan is RegionNode {
  return plan.kind !== "scan" && plan.kind !== "function" && plan.kind !== "repartition" && plan.kind !== "fillNull";
}

/** Below it, and not beyond a function or a repartition, stands a node that looks at all rows. */
export function holdsAllToAll(plan: Plan): boolean {
  if (!isRegionNode(plan)) return false;
  return isAllToAll(plan) || inputsOf(plan).some(holdsAllToAll);
}

/** Its rows come in an order that was asked for. */
export function keepsOrder(plan: Plan): boolean {
  switch (plan.kind) {
    case "sort":
    case "shuffle":
      return true;
    case "project":
    case "drop":
    case "rename":
    case "dropNull":
    case "filter":
    case "explode":
    case "limit":
      return keepsOrder(plan.input);
    case "sample":
      return plan.size.kind === "fraction" && keepsOrder(plan.input);
    case "zip":
      return true;
    default:
      return false;
  }
}

/** What the region makes depends on the places of the rows that it is fed. */
export function readsPlaces(plan: Plan): boolean {
  return isRegionNode(plan) && (plan.kind === "zip" || plan.kind === "shuffle" || inputsOf(plan).some(readsPlaces));
}

/** Within the region rows meet by their places, so that the kernel must not lose them. */
export function goesByPlace(plan: Plan): boolean {
  return isRegionNode(plan) && (plan.kind === "zip" || inputsOf(plan).some(goesByPlace));
}

export function relation(node: RegionNode, inputs: readonly Select[]): Select {
  const [input = selectFrom(), right = selectFrom()] = inputs;
  switch (node.kind) {
    case "union":
      return selectFrom(`(${inputs.map((each) => `(${selectSql(each)})`).join(" UNION ALL BY NAME ")})`);
    case "limit":
      return limitedBy(input, node);
    case "aggregate":
      return aggregated(input, node);
    case "distinct":
      return distinct(input, node);
    case "join":
      return selectFrom(`(${joined(node, tableSql(input), tableSql(right))})`);
    case "zip":
      return selectFrom(`(${zipped(node, tableSql(input), tableSql(right))})`);
    case "sort":
      return sorted(input, node);
    case "shuffle":
      return shuffled(input, node.seed);
    case "sample": {
      const some = applyNode(input, node);
      return node.size.kind === "fraction" ? some : withoutKey(some);
    }
    default:
      return applyNode(input, node);
  }
}

function limitedBy(input: Select, { offset, limit }: LimitNode): Select {
  const open = input.limit === null && input.offset === 0 ? input : nested(input);
  return { ...open, limit, offset };
}

function aggregated(input: Select, { keys, items }: AggregateNode): Select {
  const open = isOpen(input) ? input : nested(input);
  const byName = new Map(keys.map(({ name, expression }) => [name, expression]));
  const list = [
    ...keys.map(({ name, expression }) => namedSql(name, expression)),
    ...items.map(
      ({ name, expression }) => `${expressionSql(overKeys(expression, byName))} AS ${quoteIdentifier(name)}`,
    ),
  ];
  return { ...open, list: list.join(", "), group: groupBy(keys.length) };
}

/** `GROUP BY` the first items of the list. */
export function groupBy(keys: number): string {
  return keys === 0 ? "" : ` GROUP BY ${Array.from({ length: keys }, (_, i) => i + 1).join(", ")}`;
}

/** A key's name stands for its expression, outside of aggregates: inside it is the input's column. */
export function overKeys(expression: Expression, keys: ReadonlyMap<string, Expression>): Expression {
  switch (expression.kind) {
    case "column":
      return keys.get(expression.name) ?? expression;
    case "call":
      return { ...expression, args: expression.args.map((arg) => overKeys(arg, keys)) };
    case "cast":
      return { ...expression, input: overKeys(expression.input, keys) };
    case "case":
      return {
        ...expression,
        branches: expression.branches.map(({ when, value }) => ({
          when: overKeys(when, keys),
          value: overKeys(value, keys),
        })),
        otherwise: overKeys(expression.otherwise, keys),
      };
    case "aggregate":
      return expression;
    default:
      return substitute(expression, keys);
  }
}

function distinct(input: Select, { columns }: DistinctNode): Select {
  const on = columns === null ? "" : ` ON (${columns.map(quoteIdentifier).join(", ")})`;
  return selectFrom(`(SELECT DISTINCT${on} * FROM ${tableSql(input)})`);
}

function sorted(input: Select, { keys }: SortNode): Select {
  const open = isOpen(input) ? input : nested(input);
  const order = keys.flatMap((key) => orderItem(key));
  return order.length === 0 ? open : { ...open, order: order.join(", ") };
}

/** A literal orders nothing, and a number would be the place of a column. */
function orderItem({ expression, descending, nulls }: SortKey): readonly string[] {
  if (expression.kind === "literal") return [];
  return [`${expressionSql(expression)} ${descending ? "DESC" : "ASC"} NULLS ${nulls.toUpperCase()}`];
}

const PLACE = quoteIdentifier("__spillway_place");
const KEY = quoteIdentifier("__spillway_key");

/** By a hash of each row's place and the seed: twice, because the kernel only xors the two hashes. */
function shuffled(input: Select, seed: number): Select {
  const placed = `(SELECT *, row_number() OVER () AS ${PLACE} FROM ${tableSql(input)})`;
  const order = `hash(hash(${PLACE}, ${literalSql(seed)})), ${PLACE}`;
  return { ...selectFrom(placed), list: `* EXCLUDE (${PLACE})`, order };
}

/** Of a sample of n rows, which all came here, so that the first half is all there is. */
function withoutKey(select: Select): Select {
  return { ...nested(select), list: `* EXCLUDE (${KEY})` };
}
