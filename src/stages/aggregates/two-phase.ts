/**
 * An aggregate cut in two: a partial one that can run over any part of the rows, and a final one over the states of the
 * parts. state.ts defines the state of each aggregate; this file builds the two SELECTs.
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
  /** The columns of the partial aggregate by which groups are distinguished. */
  readonly keys: readonly string[];
  readonly columns: FedTable["columns"];
  partial(input: Select): Select;
  /** `table` is SQL in the place of a table name. */
  final(table: string): Select;
}

const keyName = (i: number) => `__spillway_k${i}`;

/**
 * Null if the aggregate cannot be cut. Raw SQL may contain an aggregate of its own. Lists do not get smaller, so that
 * as many values would travel as there are rows. An aggregate that depends on the order of all rows cannot use the
 * order of parts.
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

/** The states, with the values of list columns as separate rows. */
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
