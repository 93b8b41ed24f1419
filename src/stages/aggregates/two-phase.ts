/**
 * An aggregate cut in two: a partial one that may run over any part of the rows, and a final one over what the parts
 * come to. Which state an aggregate has is told in state.ts; here they are put into two SELECTs.
 */
import { quoteIdentifier } from "../../arrow/index.ts";
import {
  type AggregateExpression,
  type AggregateNode,
  aggregatesIn,
  columnType,
  type Expression,
  expressionSql,
  type NamedExpression,
  type Plan,
  raw,
} from "../../plan/index.ts";
import type { FedTable } from "../../protocol/index.ts";
import { groupBy, overKeys, seesOrder } from "../sql/relation.ts";
import { isOpen, nested, type Select, selectFrom } from "../sql/select.ts";
import { hasRawOutside, replaced } from "./replace.ts";
import { type State, stateOf } from "./state.ts";

export interface TwoPhase {
  /** The columns of the partial aggregate that groups are told apart by. */
  readonly keys: readonly string[];
  readonly columns: FedTable["columns"];
  partial(input: Select): Select;
  /** `table` stands where a table stands. */
  final(table: string): Select;
}

const keyName = (i: number) => `__spillway_k${i}`;

/**
 * Null where it is not cut: raw SQL may hold an aggregate of its own, lists do not get any smaller, so that as many
 * values go on as there are rows, and the order of all rows is not that of the parts.
 */
export function twoPhase(node: AggregateNode): TwoPhase | null {
  const { keys, items } = node;
  if (seesOrder(node) || items.some(({ expression }) => hasRawOutside(expression))) return null;
  const byName = new Map(keys.map(({ name }, i): [string, Expression] => [name, { kind: "column", name: keyName(i) }]));
  const states = statesOf(
    node.input,
    items.flatMap(({ expression }) => aggregatesIn(expression)),
  );
  if (states === null) return null;
  const outer = items.map(({ name, expression }): NamedExpression => {
    const final = replaced(overKeys(expression, byName), (inner) => {
      if (inner.kind === "column") return inner;
      return raw(states.get(expressionSql(inner))?.final ?? "");
    });
    return { name, expression: final };
  });
  const all = [...states.values()];
  const names = keys.map((_, i) => keyName(i));
  return {
    keys: names,
    columns: [
      ...names.map((name) => ({ name, type: null })),
      ...all.flatMap(({ columns }) => columns.map(({ name, type }) => ({ name, type }))),
    ],
    partial(input) {
      const open = isOpen(input) ? input : nested(input);
      const list = [
        ...keys.map(({ expression }, i) => `${expressionSql(expression)} AS ${quoteIdentifier(keyName(i))}`),
        ...all.flatMap(({ columns }) => columns.map(({ name, sql }) => `${sql} AS ${quoteIdentifier(name)}`)),
      ];
      return { ...open, list: list.join(", "), group: groupBy(keys.length) };
    },
    final(table) {
      const list = [
        ...keys.map(({ name }, i) => `${quoteIdentifier(keyName(i))} AS ${quoteIdentifier(name)}`),
        ...outer.map(({ name, expression }) => `${expressionSql(expression)} AS ${quoteIdentifier(name)}`),
      ];
      return { ...selectFrom(withValues(table, names, all)), list: list.join(", "), group: groupBy(keys.length) };
    },
  };
}

/** By the text of each aggregate. */
function statesOf(plan: Plan, aggregates: readonly AggregateExpression[]): ReadonlyMap<string, State> | null {
  const states = new Map<string, State>();
  for (const each of aggregates) {
    const text = expressionSql(each);
    const type = each.input?.kind === "column" ? columnType(plan, each.input.name) : null;
    const state = states.get(text) ?? stateOf(each, states.size, type);
    if (state === null) return null;
    states.set(text, state);
  }
  return states;
}

/** The states, and the values of those that are lists, a row each. */
function withValues(table: string, keys: readonly string[], states: readonly State[]): string {
  const lists = states.flatMap(({ unnested }) => unnested.map(quoteIdentifier));
  if (lists.length === 0) return table;
  const rest = keys.length + states.reduce((sum, { columns }) => sum + columns.length, 0) > lists.length;
  const base = rest ? [`SELECT * EXCLUDE (${lists.join(", ")}) FROM ${table}`] : [];
  const values = lists.map(
    (name) => `SELECT ${[...keys.map(quoteIdentifier), `unnest(${name}) AS ${name}`].join(", ")} FROM ${table}`,
  );
  return `(${[...base, ...values].join(" UNION ALL BY NAME ")})`;
}
