/**
 * A relational node as SQL over its inputs. The caller that walks the plan decides what stands at the leaves: files,
 * fed tables, typed nulls.
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

/** Nodes that can be written in SQL, whatever is below them. */
export type RegionNode = Exclude<Plan, { kind: "scan" | "function" | "repartition" | "fillNull" }>;

/** Nodes that need all rows before they hand on the first one. */
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

/** Whether a node that looks at all rows is below it, not counting what is below a function or a repartition. */
export function holdsAllToAll(plan: Plan): boolean {
  if (!isRegionNode(plan)) return false;
  return isAllToAll(plan) || inputsOf(plan).some(holdsAllToAll);
}

/** Whether the rows come in an order that the user asked for. */
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

/** Whether the region's result depends on the order of the rows that it is fed. */
export function readsPlaces(plan: Plan): boolean {
  if (!isRegionNode(plan)) return false;
  return plan.kind === "shuffle" || meetsByPlace(plan) || inputsOf(plan).some(readsPlaces);
}

/** Whether the region matches rows by their places, so that the kernel must keep their order. */
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

/** The kernel would fill columns that one input lacks with nulls, and treats names that differ only in case as one. */
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

/** Whether the rows have an order and one of the aggregates depends on it. */
export function seesOrder({ input, items }: AggregateNode): boolean {
  return keepsOrder(input) && items.some(({ expression }) => aggregatesIn(expression).some(goesByOrder));
}

/** Threads take rows in any order, so the aggregate must order them by their places. */
function inOrder(expression: Expression): Expression {
  return replaced(expression, (inner) => {
    if (inner.kind === "column" || !goesByOrder(inner) || inner.input === null) return inner;
    const where = inner.where === null ? "" : ` FILTER (WHERE ${expressionSql(inner.where)})`;
    return raw(`${inner.name}(${expressionSql(inner.input)} ORDER BY ${PLACE})${where}`);
  });
}

/** Adds the place of each row as a column. */
export function numbered(input: Select): Select {
  return selectFrom(`(SELECT *, row_number() OVER () AS ${PLACE} FROM ${tableSql(input)})`, input);
}

/** `GROUP BY` the first items of the list. */
export function groupBy(keys: number): string {
  return keys === 0 ? "" : ` GROUP BY ${Array.from({ length: keys }, (_, i) => i + 1).join(", ")}`;
}

/** Outside of aggregates a key's name stands for the key's expression. Inside, it is a column of the input. */
export function overKeys(expression: Expression, keys: ReadonlyMap<string, Expression>): Expression {
  return replaced(expression, (inner) => (inner.kind === "column" ? (keys.get(inner.name) ?? inner) : inner));
}

function distinct(input: Select, { columns }: DistinctNode): Select {
  const on = columns === null ? "" : ` ON (${columns.map(quoteIdentifier).join(", ")})`;
  return selectFrom(`(SELECT DISTINCT${on} * FROM ${tableSql(input)})`, input);
}

function sorted(input: Select, { keys }: SortNode): Select {
  const open = isOpen(input) ? input : nested(input);
  // A literal does not order rows, and a number would mean the position of a column.
  const order = keys.filter(({ expression }) => expression.kind !== "literal").map(orderSql);
  return order.length === 0 ? open : { ...open, order: order.join(", ") };
}

export const PLACE = quoteIdentifier("__spillway_place");
const KEY = quoteIdentifier("__spillway_key");

/** Orders by a hash of each row's place and the seed. Hashed twice, because the kernel only xors the two hashes. */
function shuffled(input: Select, seed: number): Select {
  const order = `hash(hash(${PLACE}, ${literalSql(seed)})), ${PLACE}`;
  return { ...numbered(input), list: `* EXCLUDE (${PLACE})`, order };
}

/** For a sample of n rows whose rows are all in one task: the first half is enough. */
function withoutKey(select: Select): Select {
  return { ...nested(select), list: `* EXCLUDE (${KEY})` };
}
