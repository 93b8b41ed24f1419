/**
 * What raw SQL holds, as the kernel's own parser sees it: windows, functions of many rows, unnest. Asked of a worker, because
 * only the parser that will run a text knows what is a comment, a string or a column called "over" in it, and only its
 * catalogue knows which functions are aggregates. What stands in a subquery is of that one's own rows, unless it reads nothing:
 * then an aggregate in it is of the rows around it.
 */
import { quoteIdentifier, quoteText, type RawSeen } from "../../plan/index.ts";

/** What is to be known of a function. */
export interface FunctionKind {
  readonly isAggregate: boolean;
  /** Makes several rows of one. */
  readonly unnests: boolean;
}

/** A tree of each text, in a column named after its place. */
export function parseSql(texts: readonly string[]): string {
  // A comment at the end of a text must not swallow the bracket.
  const trees = texts.map(
    (text, i) => `json_serialize_sql(${quoteText(`SELECT (${text}\n)`)}) AS ${quoteIdentifier(`${i}`)}`,
  );
  return `SELECT ${trees.join(", ")}`;
}

/** Of these functions the aggregates, and those that are SQL themselves with what stands for them. */
export function functionsSql(names: readonly string[]): string {
  const list = names.map((name) => quoteText(name)).join(", ");
  return `SELECT function_name AS name, bool_or(function_type = 'aggregate') AS aggregate, any_value(macro_definition) AS macro FROM duckdb_functions() WHERE function_type IN ('aggregate', 'macro') AND function_name IN (${list}) GROUP BY ALL`;
}

type Json = { readonly [key: string]: unknown };

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;

/** What a tree holds; functions that are not windows are told by name. */
export interface Parsed extends Pick<RawSeen, "columns" | "windows" | "isOne"> {
  readonly functions: ReadonlySet<string>;
}

export function readTree(text: string): Parsed | null {
  const tree: unknown = JSON.parse(text);
  if (!isObject(tree) || tree.error !== false || !Array.isArray(tree.statements)) return null;
  const node = isObject(tree.statements[0]) ? tree.statements[0].node : null;
  if (!isObject(node)) return null;
  const reader = new TreeReader();
  reader.read(node, "here");
  const { windows, functions, columns, readsAll } = reader;
  const isOne = tree.statements.length === 1 && isLoneExpression(node);
  return { windows, functions, columns: readsAll ? null : columns, isOne };
}

function isLoneExpression(node: Json): boolean {
  const { select_list: list, modifiers, group_expressions: groups, where_clause: where, having, qualify } = node;
  const only = Array.isArray(list) && list.length === 1 && isFromNothing(node);
  return only && isEmpty(modifiers) && isEmpty(groups) && where === null && having === null && qualify === null;
}

const isEmpty = (value: unknown) => Array.isArray(value) && value.length === 0;
const isFromNothing = ({ from_table: from }: Json) => isObject(from) && from.type === "EMPTY";

class TreeReader {
  readonly windows: (readonly string[])[] = [];
  readonly functions = new Set<string>();
  readonly columns = new Set<string>();
  readsAll = false;

  /** `where`: "elsewhere" is in a subquery, over other rows. */
  read(value: unknown, where: "here" | "elsewhere"): void {
    if (!isObject(value)) return;
    if (where === "here" && value.class === "WINDOW") this.windows.push(partitionColumns(value.partitions));
    if (where === "here" && value.class === "FUNCTION") this.functions.add(String(value.function_name).toLowerCase());
    if (value.class === "COLUMN_REF") for (const name of namesIn(value)) this.columns.add(name.toLowerCase());
    if (value.class === "STAR" || value.class === "POSITIONAL_REFERENCE") this.readsAll = true;
    const below = value.type === "SELECT_NODE" && !isFromNothing(value) ? "elsewhere" : where;
    for (const part of Object.values(value)) this.read(part, below);
  }
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

/** `kinds`: of the functions that it names. */
export function seenIn(parsed: Parsed, kinds: ReadonlyMap<string, FunctionKind>): RawSeen {
  const { functions, ...seen } = parsed;
  const names = [...functions];
  return {
    ...seen,
    aggregates: names.filter((name) => kinds.get(name)?.isAggregate === true),
    unnests: names.some((name) => kinds.get(name)?.unnests === true),
  };
}
