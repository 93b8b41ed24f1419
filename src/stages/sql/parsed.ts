/**
 * What raw SQL contains, as the kernel's own parser sees it: windows, functions of many rows, unnest. A worker is
 * asked, because only the parser that will run a text knows what in it is a comment, a string, or a column called
 * "over", and only its catalogue knows which functions are aggregates. A subquery has rows of its own, so its content
 * does not count. SQL has one exception: an aggregate whose columns all come from outside the subquery belongs to the
 * rows outside.
 */
import { quoteIdentifier, quoteText } from "../../arrow/index.ts";
import type { RawSeen } from "../../plan/index.ts";
import {
  isFromNothing,
  isObject,
  items,
  type Json,
  type Names,
  namesOfTable,
  type Withs,
  withsOf,
} from "./own-names.ts";

/** What must be known about a function. */
export interface FunctionKind {
  readonly isAggregate: boolean;
  /** Makes several rows of one. */
  readonly unnests: boolean;
}

/** SQL that returns the tree of each text, in a column named after its position. */
export function parseSql(texts: readonly string[]): string {
  // The line break ends a comment at the end of a text, which would swallow the bracket.
  const trees = texts.map(
    (text, i) => `json_serialize_sql(${quoteText(`${BEFORE}${text}\n)`)}) AS ${quoteIdentifier(`${i}`)}`,
  );
  return `SELECT ${trees.join(", ")}`;
}

/** SQL that returns which of these functions are aggregates, and the definitions of those that are written in SQL. */
export function functionsSql(names: readonly string[]): string {
  const list = names.map((name) => quoteText(name)).join(", ");
  return `SELECT function_name AS name, bool_or(function_type = 'aggregate') AS aggregate, any_value(macro_definition) AS macro FROM duckdb_functions() WHERE function_type IN ('aggregate', 'macro') AND function_name IN (${list}) GROUP BY ALL`;
}

/** What a tree contains. Functions that are not windows are listed by name. */
export interface Parsed extends Pick<RawSeen, "columns" | "windows" | "isOne"> {
  readonly functions: ReadonlySet<string>;
  /** Functions in subqueries whose columns all come from outside them. */
  readonly reaching: ReadonlySet<string>;
}

export function readTree(text: string): Parsed | null {
  const tree: unknown = JSON.parse(text);
  if (!isObject(tree) || tree.error !== false || !Array.isArray(tree.statements)) return null;
  const node = isObject(tree.statements[0]) ? tree.statements[0].node : null;
  if (!isObject(node)) return null;
  const reader = new TreeReader();
  reader.read(node, NOWHERE);
  const { windows, functions, reaching, columns, readsAll } = reader;
  const isOne = tree.statements.length === 1 && isLoneExpression(node);
  return { windows, functions, reaching, columns: readsAll ? null : columns, isOne };
}

const BEFORE = "SELECT (";
const MOST_OF_A_TEXT = 300;

/**
 * What is wrong with a text, without mentioning the SQL around it; null if its syntax is right. `tree` is the kernel's
 * answer.
 */
export function syntaxFault(text: string, tree: string): string | null {
  const found: unknown = JSON.parse(tree);
  if (!isObject(found) || found.error !== true || found.error_subtype !== "SYNTAX_ERROR") return null;
  const said = String(found.error_message);
  // The kernel counts code points.
  const isAtEnd = Number(found.position) === [...`${BEFORE}${text}\n`].length;
  let what = said;
  if (said.startsWith("unterminated ")) what = "it opens a quote or a comment that it does not close";
  else if (said.endsWith("at end of input")) what = "it opens a bracket that it does not close";
  else if (isAtEnd)
    what = "syntax error at its end: something is missing there, or a bracket is closed that is not open";
  const shown = text.length > MOST_OF_A_TEXT ? `${text.slice(0, MOST_OF_A_TEXT)}…` : text;
  return `sql(${JSON.stringify(shown)}): ${what}.`;
}

function isLoneExpression(node: Json): boolean {
  const { select_list: list, modifiers, group_expressions: groups, where_clause: where, having, qualify } = node;
  const only = Array.isArray(list) && list.length === 1 && isFromNothing(node);
  return only && isEmpty(modifiers) && isEmpty(groups) && where === null && having === null && qualify === null;
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;

/** The subqueries around a place, with what each reads from. Empty: the place belongs to the row itself. */
interface Place {
  readonly around: readonly Names[];
  readonly withs: Withs;
}

const NOWHERE: Place = { around: [], withs: new Map() };

class TreeReader {
  readonly windows: (readonly string[])[] = [];
  readonly functions = new Set<string>();
  readonly reaching = new Set<string>();
  readonly columns = new Set<string>();
  readsAll = false;

  read(value: unknown, place: Place): void {
    if (!isObject(value)) return;
    const isHere = place.around.length === 0;
    if (isHere && value.class === "WINDOW") this.windows.push(partitionColumns(value.partitions));
    if (value.class === "FUNCTION") {
      const name = String(value.function_name).toLowerCase();
      if (isHere) this.functions.add(name);
      else if (isFromAround(value, place)) this.reaching.add(name);
    }
    if (value.class === "COLUMN_REF") for (const name of namesIn(value)) this.columns.add(name.toLowerCase());
    if (value.class === "STAR" || value.class === "POSITIONAL_REFERENCE") this.readsAll = true;
    const below = inside(value, place);
    for (const part of Object.values(value)) this.read(part, below);
  }
}

function inside(value: Json, place: Place): Place {
  if (value.cte_map === undefined) return place;
  const withs = withsOf(value, place.withs);
  if (value.type !== "SELECT_NODE" || isFromNothing(value)) return { ...place, withs };
  return { around: [...place.around, namesOfTable(value.from_table, withs)], withs };
}

/** Whether it reads columns, and none of the subqueries around it has any of them. */
function isFromAround(call: Json, { around, withs }: Place): boolean {
  const free = freeNames(call, withs);
  if (free === null || free.size === 0) return false;
  return around.every((names) => names !== null && [...free].every((name) => !names.has(name)));
}

/**
 * The first part of the name of each column (its table, or the column itself) that no subquery or lambda inside it
 * defines.
 */
function freeNames(value: unknown, around: Withs): Names {
  if (!isObject(value)) return new Set();
  if (value.class === "COLUMN_REF")
    return new Set(
      namesIn(value)
        .slice(0, 1)
        .map((name) => name.toLowerCase()),
    );
  const withs = withsOf(value, around);
  const own = value.type === "SELECT_NODE" ? namesOfTable(value.from_table, withs) : parameters(value);
  if (own === null) return null;
  const free = new Set<string>();
  for (const part of Object.values(value)) {
    const names = freeNames(part, withs);
    if (names === null) return null;
    for (const name of names) if (!own.has(name)) free.add(name);
  }
  return free;
}

function parameters(value: Json): ReadonlySet<string> {
  if (value.class !== "LAMBDA" || !isObject(value.lhs)) return new Set();
  const each = [value.lhs, ...items(value.lhs.children)].filter(isObject);
  return new Set(each.flatMap(namesIn).map((name) => name.toLowerCase()));
}

function namesIn({ column_names: names }: Json): readonly string[] {
  return Array.isArray(names) ? names.map(String) : [];
}

function partitionColumns(partitions: unknown): readonly string[] {
  if (!Array.isArray(partitions)) return [];
  return partitions.flatMap((each: unknown) => {
    if (!isObject(each) || each.class !== "COLUMN_REF") return [];
    const names = namesIn(each);
    return names.length === 1 ? names : [];
  });
}

/** `kinds`: those of the functions that it names. */
export function seenIn(parsed: Parsed, kinds: ReadonlyMap<string, FunctionKind>): RawSeen {
  const { functions, reaching, ...seen } = parsed;
  const names = [...functions];
  return {
    ...seen,
    aggregates: [...new Set([...names, ...reaching])].filter((name) => kinds.get(name)?.isAggregate === true),
    unnests: names.some((name) => kinds.get(name)?.unnests === true),
  };
}
