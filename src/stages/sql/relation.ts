/**
 * A relational node over what its inputs are, as SQL. Whoever walks the plan decides what stands at its leaves: files,
 * tables that are fed, typed nulls.
 */
import { quoteIdentifier } from "../../arrow/index.ts";
import {
  type AggregateNode,
  aggregatesIn,
  columnsOf,
  type DistinctNode,
  type Expression,
  expressionSql,
  inputsOf,
  type LimitNode,
  literalSql,
  namedSql,
  orderSql,
  type Plan,
  raw,
  type SortNode,
  seesRowOrder,
  type UnionNode,
} from "../../plan/index.ts";
import { goesByOrder, replaced } from "../aggregates/replace.ts";
import { joined, zipped } from "./join.ts";
import { applyNode, isOpen, nested, projected, type Select, selectFrom, selectSql, tableSql } from "./select.ts";

/** Nodes that SQL can say, whatever is below them. */
export type RegionNode = Exclude<Plan, { kind: "scan" | "function" | "repartition" | "fillNull" }>;

/** Nodes that look at all rows before they hand on the first. */
export type AllToAllNode = Extract<
  Plan,
  { kind: "aggregate" | "distinct" | "join" | "sort" | "shuffle" | "window" | "zip" }
>;

export function isAllToAll(plan: Plan): plan is AllToAllNode {
  switch (plan.kind) {
    case "aggregate":
    case "distinct":
    case "join":
    case "sort":
    case "shuffle":
    case "window":
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
    case "function":
      return plan.form !== "mapGroups" && keepsOrder(plan.input);
    default:
      return false;
  }
}

/** What the region makes depends on the places of the rows that it is fed. */
export function readsPlaces(plan: Plan): boolean {
  if (!isRegionNode(plan)) return false;
  return plan.kind === "shuffle" || meetsByPlace(plan) || inputsOf(plan).some(readsPlaces);
}

/** Within the region rows meet by their places, so that the kernel must not lose them. */
export function goesByPlace(plan: Plan): boolean {
  return isRegionNode(plan) && (meetsByPlace(plan) || inputsOf(plan).some(goesByPlace));
}

function meetsByPlace(node: RegionNode): boolean {
  if (node.kind === "window") return seesRowOrder(node);
  return node.kind === "zip" || (node.kind === "aggregate" && seesOrder(node));
}

export function relation(node: RegionNode, inputs: readonly Select[]): Select {
  const [input = selectFrom(), right = selectFrom()] = inputs;
  switch (node.kind) {
    case "union":
      return unionOf(node, inputs);
    case "limit":
      return limitedBy(input, node);
    case "aggregate":
      return aggregated(input, node);
    case "distinct":
      return distinct(input, node);
    case "join":
      return joined(node, input, right);
    case "zip":
      return zipped(node, input, right);
    case "sort":
      return sorted(input, node);
    case "shuffle":
      return shuffled(input, node.seed);
    case "window":
      return projected(isOpen(input) ? input : nested(input), node);
    case "sample": {
      const some = applyNode(input, node);
      return node.size.kind === "fraction" ? some : withoutKey(some);
    }
    default:
      return applyNode(input, node);
  }
}

/**
 * The kernel fills columns that one of them does not have with nulls, and takes names for one that differ only in case.
 */
function unionOf(node: UnionNode, inputs: readonly Select[]): Select {
  const all = inputs.map((each) => `(${selectSql(each)})`);
  const select = selectFrom(`(${all.join(" UNION ALL BY NAME ")})`, ...inputs);
  const isKnown = node.inputs.every((input) => columnsOf(input) !== null);
  return isKnown ? select : { ...select, united: [...select.united, inputs.map(tableSql)] };
}

function limitedBy(input: Select, { offset, limit }: LimitNode): Select {
  const open = input.limit === null && input.offset === 0 ? input : nested(input);
  return { ...open, limit, offset };
}

function aggregated(input: Select, node: AggregateNode): Select {
  const { keys, items } = node;
  const open = seesOrder(node) ? numbered(input) : isOpen(input) ? input : nested(input);
  const byName = new Map(keys.map(({ name, expression }) => [name, expression]));
  const item = (expression: Expression) =>
    expressionSql(overKeys(seesOrder(node) ? inOrder(expression) : expression, byName));
  const list = [
    ...keys.map(({ name, expression }) => namedSql(name, expression)),
    ...items.map(({ name, expression }) => `${item(expression)} AS ${quoteIdentifier(name)}`),
  ];
  return { ...open, list: list.join(", "), group: groupBy(keys.length) };
}

/** Its rows have an order, and one of its aggregates goes by it. */
export function seesOrder({ input, items }: AggregateNode): boolean {
  return keepsOrder(input) && items.some(({ expression }) => aggregatesIn(expression).some(goesByOrder));
}

/** Threads take rows as they come, so that their places must be told. */
function inOrder(expression: Expression): Expression {
  return replaced(expression, (inner) => {
    if (inner.kind === "column" || !goesByOrder(inner) || inner.input === null) return inner;
    const where = inner.where === null ? "" : ` FILTER (WHERE ${expressionSql(inner.where)})`;
    return raw(`${inner.name}(${expressionSql(inner.input)} ORDER BY ${PLACE})${where}`);
  });
}

/** Beside its columns the place of each row. */
export function numbered(input: Select): Select {
  return selectFrom(`(SELECT *, row_number() OVER () AS ${PLACE} FROM ${tableSql(input)})`, input);
}

/** `GROUP BY` the first items of the list. */
export function groupBy(keys: number): string {
  return keys === 0 ? "" : ` GROUP BY ${Array.from({ length: keys }, (_, i) => i + 1).join(", ")}`;
}

/** A key's name stands for its expression, outside of aggregates: inside it is the input's column. */
export function overKeys(expression: Expression, keys: ReadonlyMap<string, Expression>): Expression {
  return replaced(expression, (inner) => (inner.kind === "column" ? (keys.get(inner.name) ?? inner) : inner));
}

function distinct(input: Select, { columns }: DistinctNode): Select {
  const on = columns === null ? "" : ` ON (${columns.map(quoteIdentifier).join(", ")})`;
  return selectFrom(`(SELECT DISTINCT${on} * FROM ${tableSql(input)})`, input);
}

function sorted(input: Select, { keys }: SortNode): Select {
  const open = isOpen(input) ? input : nested(input);
  // A literal orders nothing, and a number would be the place of a column.
  const order = keys.filter(({ expression }) => expression.kind !== "literal").map(orderSql);
  return order.length === 0 ? open : { ...open, order: order.join(", ") };
}

export const PLACE = quoteIdentifier("__spillway_place");
const KEY = quoteIdentifier("__spillway_key");

/** By a hash of each row's place and the seed: twice, because the kernel only xors the two hashes. */
function shuffled(input: Select, seed: number): Select {
  const order = `hash(hash(${PLACE}, ${literalSql(seed)})), ${PLACE}`;
  return { ...numbered(input), list: `* EXCLUDE (${PLACE})`, order };
}

/** Of a sample of n rows, which all came here, so that the first half is all there is. */
function withoutKey(select: Select): Select {
  return { ...nested(select), list: `* EXCLUDE (${KEY})` };
}
