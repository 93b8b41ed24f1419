/**
 * An aggregate cut in two: a partial one that may run over any part of the rows, and a final one over what the parts come to.
 * Which state an aggregate has is told in state.ts; here they are put into two SELECTs.
 */
import {
  type AggregateExpression,
  type AggregateNode,
  aggregatesIn,
  type Expression,
  expressionSql,
  type NamedExpression,
  quoteIdentifier,
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

const KIND = quoteIdentifier("__spillway_kind");
const keyName = (i: number) => `__spillway_k${i}`;

/**
 * Null where it is not cut: raw SQL may hold an aggregate of its own, lists alone do not get any smaller, and the order of all
 * rows is not that of the parts.
 */
export function twoPhase(node: AggregateNode): TwoPhase | null {
  const { keys, items } = node;
  if (seesOrder(node) || items.some(({ expression }) => hasRawOutside(expression))) return null;
  const aggregates = items.flatMap(({ expression }) => aggregatesIn(expression));
  if (aggregates.length > 0 && !aggregates.some(shrinks)) return null;
  const byName = new Map(keys.map(({ name }, i): [string, Expression] => [name, { kind: "column", name: keyName(i) }]));
  const states = new Map<string, State>();
  const outer = items.map(({ name, expression }): NamedExpression => {
    const final = replaced(overKeys(expression, byName), (inner) => {
      if (inner.kind === "column") return inner;
      const text = expressionSql(inner);
      const state = states.get(text) ?? stateOf(inner, states.size, KIND);
      states.set(text, state);
      return { kind: "raw", sql: state.final };
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

/** The states, and the values of those that are lists, a row each. */
function withValues(table: string, keys: readonly string[], states: readonly State[]): string {
  const lists = states.map(({ unnested }, id) => ({ id, unnested })).filter(({ unnested }) => unnested !== null);
  if (lists.length === 0) return table;
  const exclude = lists.map(({ unnested }) => quoteIdentifier(unnested ?? "")).join(", ");
  const rest = keys.length + states.reduce((sum, { columns }) => sum + columns.length, 0) > lists.length;
  const base = `SELECT ${rest ? `* EXCLUDE (${exclude}), ` : ""}-1 AS ${KIND} FROM ${table}`;
  const values = lists.map(({ id, unnested }) => {
    const name = quoteIdentifier(unnested ?? "");
    return `SELECT ${[...keys.map(quoteIdentifier), `unnest(${name}) AS ${name}`, `${id} AS ${KIND}`].join(", ")} FROM ${table}`;
  });
  return `(${[base, ...values].join(" UNION ALL BY NAME ")})`;
}

const shrinks = ({ name }: AggregateExpression) => name !== "list" && name !== "quantile";
