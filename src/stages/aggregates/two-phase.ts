/**
 * An aggregate cut in two: a partial one that may run over any part of the rows, and a final one over what the parts come to.
 * Which state an aggregate has is told in state.ts; here they are put into two SELECTs.
 */
import {
  type AggregateExpression,
  type AggregateNode,
  type Expression,
  expressionSql,
  type NamedExpression,
  quoteIdentifier,
} from "../../plan/index.ts";
import type { FedTable } from "../../protocol/index.ts";
import { groupBy, overKeys } from "../sql/relation.ts";
import { isOpen, nested, type Select, selectFrom } from "../sql/select.ts";
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

/** Null where it cannot be cut: raw SQL may hold an aggregate of its own, and lists alone do not get any smaller. */
export function twoPhase({ keys, items }: AggregateNode): TwoPhase | null {
  const byName = new Map(keys.map(({ name }, i): [string, Expression] => [name, { kind: "column", name: keyName(i) }]));
  const states = new Map<string, State>();
  const shrinks = new Set<string>();
  const outer: NamedExpression[] = [];
  for (const { name, expression } of items) {
    const replaced = withStates(overKeys(expression, byName), states, shrinks);
    if (replaced === null) return null;
    outer.push({ name, expression: replaced });
  }
  if (states.size > 0 && shrinks.size === 0) return null;
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

/** The expression over the final halves; null where raw SQL stands outside of an aggregate. */
function withStates(expression: Expression, states: Map<string, State>, shrinks: Set<string>): Expression | null {
  const inside = (each: Expression) => withStates(each, states, shrinks);
  switch (expression.kind) {
    case "aggregate": {
      const text = expressionSql(expression);
      const state = states.get(text) ?? stateOf(expression, states.size, KIND);
      states.set(text, state);
      if (shrinking(expression)) shrinks.add(text);
      return { kind: "raw", sql: state.final };
    }
    case "raw":
      return null;
    case "call": {
      const args = expression.args.map(inside);
      return everyOne(args) ? { ...expression, args } : null;
    }
    case "cast": {
      const input = inside(expression.input);
      return input === null ? null : { ...expression, input };
    }
    case "case": {
      const flat = [...expression.branches.flatMap(({ when, value }) => [when, value]), expression.otherwise].map(
        inside,
      );
      if (!everyOne(flat)) return null;
      const at = (i: number) => flat[i] ?? expression.otherwise;
      return {
        ...expression,
        branches: expression.branches.map((_, i) => ({ when: at(2 * i), value: at(2 * i + 1) })),
        otherwise: at(flat.length - 1),
      };
    }
    default:
      return expression;
  }
}

function everyOne<T>(items: readonly (T | null)[]): items is readonly T[] {
  return items.every((item) => item !== null);
}

const shrinking = ({ name }: AggregateExpression) => name !== "list" && name !== "quantile";
