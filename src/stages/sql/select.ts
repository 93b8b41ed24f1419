/**
 * Builds one SELECT from a run of relational nodes. It nests only where SQL needs it: a condition on a computed column,
 * an exploded list, a projection that could not be merged. `{input}` stands for the table.
 */
import { quoteIdentifier } from "../../arrow/index.ts";
import {
  columnsOf,
  columnsRead,
  conjuncts,
  type Expression,
  expressionSql,
  isDeep,
  literalSql,
  type NamedExpression,
  namedColumns,
  namedSql,
  type Plan,
  type ProjectNode,
  type RowSample,
  type ScanNode,
  type WindowNode,
} from "../../plan/index.ts";
import { type ComparedKeys, INPUT, type UnnamedColumns } from "../../protocol/index.ts";
import { inSteps } from "./deep.ts";
import { conditionSql } from "./long-lists.ts";

/** Nodes that become SQL; each of them looks at one row at a time. */
export type RelationalNode = Extract<
  Plan,
  { kind: "project" | "drop" | "rename" | "dropNull" | "filter" | "explode" | "sample" }
>;

/** The name of the method that the user called. */
export function nodeName(node: Exclude<Plan, { kind: "scan" | "function" }>): string {
  switch (node.kind) {
    case "project":
      return node.operator;
    case "aggregate":
      return node.keys.length === 0 ? "aggregate" : "groupBy";
    case "shuffle":
      return "randomShuffle";
    default:
      return node.kind;
  }
}

export interface Select {
  readonly from: string;
  /** Conditions, as SQL. */
  readonly where: readonly string[];
  /** The select list; null: not decided yet. */
  readonly list: string | null;
  /** The list if none is decided. */
  readonly all: string;
  /** ` GROUP BY …`; null: not grouped. */
  readonly group: string | null;
  /** What to order by; null: no order. */
  readonly order: string | null;
  readonly limit: number | null;
  readonly offset: number;
  /** Lists of columns in it that only the task can resolve, because it has the tables; inner ones first. */
  readonly unnamed: readonly UnnamedColumns[];
  /** Keys of joins in it whose types only the task knows. */
  readonly compared: readonly ComparedKeys[];
  /** The tables of unions in it whose columns only the task knows. */
  readonly united: readonly (readonly string[])[];
  /** Combines rows by their places. It relies on being asked for all of them, or for the first ones. */
  readonly byPlace: boolean;
}

const EMPTY = { where: [], list: null, all: "*", group: null, order: null, limit: null, offset: 0 } as const;

/** `within`: the SELECTs that the text of `from` contains. */
export function selectFrom(from: string = INPUT, ...within: readonly Select[]): Select {
  const unnamed = within.flatMap((select) => select.unnamed);
  const compared = within.flatMap((select) => select.compared);
  const united = within.flatMap((select) => select.united);
  const byPlace = within.some((select) => select.byPlace);
  return { ...EMPTY, from, unnamed, compared, united, byPlace };
}

export function selectFromScan(scan: ScanNode, from: string = INPUT): Select {
  const all = scan.columns === null ? "*" : scan.columns.map(quoteIdentifier).join(", ");
  return filtered({ ...selectFrom(from), all }, scan.filters);
}

/** Whether the SELECT returns everything that it reads, unchanged. */
function isWhole(select: Select): boolean {
  return select.where.length === 0 && select.all === "*" && isOpen(select);
}

/** Whether the SELECT leaves the step's table unchanged. */
export function isTrivial(select: Select): boolean {
  return isWhole(select) && select.from === INPUT;
}

export function selectSql(select: Select): string {
  const where = select.where.length === 0 ? "" : ` WHERE ${select.where.join(" AND ")}`;
  const order = select.order === null ? "" : ` ORDER BY ${select.order}`;
  const limit = select.limit === null ? "" : ` LIMIT ${select.limit}`;
  const offset = select.offset === 0 ? "" : ` OFFSET ${select.offset}`;
  return `SELECT ${select.list ?? select.all} FROM ${select.from}${where}${select.group ?? ""}${order}${limit}${offset}`;
}

/** SQL in the place of a table name. */
export function tableSql(select: Select): string {
  return nested(select).from;
}

/** A SELECT over the given one. */
export function nested(select: Select): Select {
  return isWhole(select) ? select : selectFrom(`(${selectSql(select)})`, select);
}

export function limited(select: Select, rows: number): Select {
  return { ...select, limit: Math.min(rows, select.limit ?? rows) };
}

/** Whether conditions, a list and an order can still be added. */
export function isOpen({ list, group, order, limit, offset }: Select): boolean {
  return list === null && group === null && order === null && limit === null && offset === 0;
}

export function applyNode(select: Select, node: RelationalNode): Select {
  const open = isOpen(select) ? select : nested(select);
  switch (node.kind) {
    case "filter":
      return filtered(open, conjuncts(node.predicate));
    case "dropNull": {
      const plain = open.where.length === 0 ? open : nested(open);
      const conditions = node.columns?.map((name) => `${quoteIdentifier(name)} IS NOT NULL`);
      return { ...plain, where: conditions ?? ["COLUMNS(*) IS NOT NULL"] };
    }
    case "project":
      return projected(open, node);
    case "drop":
      return { ...open, list: `*${without(node.names)}` };
    case "rename": {
      const pairs = [...node.names].map(([from, to]) => `${quoteIdentifier(from)} AS ${quoteIdentifier(to)}`);
      // The kernel ignores a name in RENAME that does not exist. A condition that is always true names each of them,
      // too, so that a missing one is an error.
      const named = [...node.names.keys()].map((from) => `(${quoteIdentifier(from)} IS NULL OR TRUE)`);
      return { ...open, where: [...open.where, ...named], list: `* RENAME (${pairs.join(", ")})` };
    }
    case "explode": {
      const name = quoteIdentifier(node.column);
      const known = columnsOf(node.input);
      if (known === null) return { ...open, list: `* REPLACE (unnest(${name}) AS ${name})` };
      const items = known.map((each) => (each === node.column ? `unnest(${name}) AS ${name}` : quoteIdentifier(each)));
      return { ...open, list: items.join(", ") };
    }
    case "sample":
      return sampled(nested(select), node);
  }
}

/** Deep conditions come after the others, which may leave out the rows for which the deep ones fail. */
function filtered(open: Select, conditions: readonly Expression[]): Select {
  const plain = conditions.filter((condition) => !isDeep(condition)).map(conditionSql);
  const some = plain.length === 0 ? open : { ...open, where: [...open.where, ...plain] };
  if (plain.length === conditions.length) return some;
  const { over, expressions, steps } = afterSteps(some, conditions.filter(isDeep));
  return { ...over, where: expressions.map(conditionSql), list: `*${without(steps)}` };
}

interface AfterSteps {
  /** The SELECT with the steps as columns. */
  readonly over: Select;
  readonly expressions: readonly Expression[];
  /** The names of these columns. */
  readonly steps: readonly string[];
}

function afterSteps(open: Select, expressions: readonly Expression[]): AfterSteps {
  const cut = inSteps(expressions);
  let over = open;
  for (const items of cut.before) over = nested({ ...over, list: `${over.all}, ${listSql(items)}` });
  return { over, expressions: cut.expressions, steps: cut.before.flatMap((items) => items.map(({ name }) => name)) };
}

function without(names: readonly string[]): string {
  return names.length === 0 ? "" : ` EXCLUDE (${names.map(quoteIdentifier).join(", ")})`;
}

/** The conditions of the present SELECT leave out rows before a window looks at them. */
export function projected(select: Select, node: ProjectNode | WindowNode): Select {
  const { over, expressions, steps } = afterSteps(
    select,
    node.items.map(({ expression }) => expression),
  );
  const computed = node.items.map(({ name, expression }, i) => ({ name, expression: expressions[i] ?? expression }));
  if (node.mode === "select") return { ...over, list: listSql(computed) };
  const known = columnsOf(node.input);
  if (known === null) return extended(over, computed, steps);
  const items = new Map(computed.map(({ name, expression }) => [name, expression]));
  const names = [...new Set([...known, ...items.keys()])];
  return { ...over, list: names.map((name) => item(name, items.get(name))).join(", ") };
}

function item(name: string, expression: Expression | undefined): string {
  return expression === undefined ? quoteIdentifier(name) : namedSql(name, expression);
}

function listSql(items: ProjectNode["items"]): string {
  return items.map(({ name, expression }) => namedSql(name, expression)).join(", ");
}

/**
 * Columns computed over an input with unknown columns. `* REPLACE` requires existing columns, so an empty table with
 * these columns is first put under the input. Columns that an expression reads are left out of that table: they must
 * exist, and the kernel reports a missing one.
 */
function extended(open: Select, items: readonly NamedExpression[], steps: readonly string[]): Select {
  const names = items.map(({ name }) => name);
  const read = new Set(
    items.flatMap(({ expression }) => [...(columnsRead(expression, names) ?? namedColumns(expression))]),
  );
  const added = items.filter(({ name }) => !read.has(name));
  const replaced = items.map(({ name, expression }) => `${expressionSql(expression)} AS ${quoteIdentifier(name)}`);
  const list = `*${without(steps)} REPLACE (${replaced.join(", ")})`;
  if (added.length === 0) return { ...open, list };
  const base = open.where.length === 0 ? open : nested(open);
  const empty = added.map(({ name }) => `NULL AS ${quoteIdentifier(name)}`).join(", ");
  return { ...base, from: `(SELECT * FROM ${base.from} UNION ALL BY NAME SELECT ${empty} WHERE FALSE)`, list };
}

const ROW = quoteIdentifier("__spillway_row");
const KEY_NAME = "__spillway_key";
const KEY = quoteIdentifier(KEY_NAME);
/** The column that the first half of a sample of n rows adds to its rows. */
export const SAMPLE_KEY = { name: KEY_NAME, type: "UBIGINT" };

/** Chooses rows by a hash of their values and of their place among the rows at hand. */
function sampled(select: Select, node: Extract<Plan, { kind: "sample" }>): Select {
  const numbered = `(SELECT *, row_number() OVER () AS ${ROW} FROM ${nested(select).from})`;
  const hash = mixed("*COLUMNS(*)", node.seed);
  if (node.size.kind === "fraction") {
    const where = [`${hash} < ${hashBound(node.size.fraction)}`];
    return { ...selectFrom(numbered, select), where, list: `* EXCLUDE (${ROW})` };
  }
  const keyed = `(SELECT *, ${hash} AS ${KEY} FROM ${numbered})`;
  return selectFrom(`(SELECT * EXCLUDE (${ROW}) FROM ${keyed} ORDER BY ${KEY} LIMIT ${node.size.rows})`, select);
}

/** The second half of a sample of n rows, over all rows that the first half kept. */
export function smallestKeys(table: string, rows: number): Select {
  return { ...selectFrom(`(SELECT * FROM ${table} ORDER BY ${KEY} LIMIT ${rows})`), list: `* EXCLUDE (${KEY})` };
}

/**
 * Hashed twice: the kernel only xors the seed's hash with the other one, so for a fraction of one half there would be
 * only two different samples.
 */
export function mixed(values: string, seed: number): string {
  return `hash(hash(${values}, ${literalSql(seed)}))`;
}

function hashBound(fraction: number): string {
  return `CAST('${BigInt(Math.floor(fraction * 2 ** 53)) * 2n ** 11n}' AS UBIGINT)`;
}

/** A condition that keeps a fraction of the rows. `place` is SQL that identifies a row by its place. */
export function placeSampleSql(place: string, sample: RowSample): string {
  return `${mixed(place, sample.seed)} < ${hashBound(sample.fraction)}`;
}
