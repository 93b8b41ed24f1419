/**
 * The names that a SELECT in the kernel's parse tree gets from what it reads: its tables and their columns. Null if the
 * text does not tell them (a file, a struct that is unnested). Too many names do no harm; too few would.
 */
export type Json = { readonly [key: string]: unknown };

/** The names of each visible WITH, by its name in lower case. */
export type Withs = ReadonlyMap<string, Names>;
export type Names = ReadonlySet<string> | null;

export const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null;
export const isFromNothing = ({ from_table: from }: Json) => isObject(from) && from.type === "EMPTY";

/** Functions whose single column is named like the function. */
const SERIES: ReadonlySet<string> = new Set(["range", "generate_series", "unnest"]);

/** The names of a table reference after FROM. */
export function namesOfTable(table: unknown, withs: Withs): Names {
  if (!isObject(table)) return null;
  const given = named([table.alias, ...items(table.column_name_alias)]);
  switch (table.type) {
    case "EMPTY":
      return given;
    case "EXPRESSION_LIST":
      return both(given, named(items(items(table.values)[0]).map((_, i) => `col${i}`)));
    case "TABLE_FUNCTION": {
      const name = isObject(table.function) ? String(table.function.function_name).toLowerCase() : "";
      return SERIES.has(name) ? both(given, named([name, "ordinality"])) : null;
    }
    case "SUBQUERY":
      return both(given, namesOfQuery(isObject(table.subquery) ? table.subquery.node : null, withs));
    case "JOIN":
      return both(given, both(namesOfTable(table.left, withs), namesOfTable(table.right, withs)));
    case "BASE_TABLE":
      return both(both(given, named([table.table_name])), withs.get(String(table.table_name).toLowerCase()) ?? null);
    default:
      return null;
  }
}

/** The visible WITHs, with those that the node adds. */
export function withsOf(node: Json, withs: Withs): Withs {
  const map = isObject(node.cte_map) ? items(node.cte_map.map) : [];
  const all = new Map(withs);
  for (const each of map) {
    if (!isObject(each) || !isObject(each.value)) continue;
    const { aliases, query } = each.value;
    const names = namesOfQuery(isObject(query) ? query.node : null, all);
    all.set(String(each.key).toLowerCase(), both(named(items(aliases)), names));
  }
  return all;
}

/** The names of the output columns. */
function namesOfQuery(node: unknown, around: Withs): Names {
  if (!isObject(node)) return null;
  const withs = withsOf(node, around);
  if (node.type === "SET_OPERATION_NODE") {
    const left = namesOfQuery(node.left, withs);
    return node.setop_type === "UNION_BY_NAME" ? both(left, namesOfQuery(node.right, withs)) : left;
  }
  if (node.type !== "SELECT_NODE") return null;
  return items(node.select_list)
    .map((item) => namesOfItem(item, () => namesOfTable(node.from_table, withs)))
    .reduce(both, new Set());
}

function namesOfItem(item: unknown, ofTable: () => Names): Names {
  if (!isObject(item)) return null;
  if (item.class === "STAR") return item.columns === false ? both(ofTable(), named([item.alias])) : null;
  if (typeof item.alias === "string" && item.alias !== "") return named([item.alias]);
  if (item.class === "COLUMN_REF") return named(items(item.column_names).slice(-1));
  return item.class === "CONSTANT" ? new Set() : null;
}

function both(a: Names, b: Names): Names {
  return a === null || b === null ? null : new Set([...a, ...b]);
}

function named(values: readonly unknown[]): Names {
  return new Set(values.flatMap((value) => (typeof value === "string" && value !== "" ? [value.toLowerCase()] : [])));
}

export function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
