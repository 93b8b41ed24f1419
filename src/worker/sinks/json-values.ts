/** A query with values that JSON can represent: not-a-number and the infinities become null. */
import { childFields, type DataType, quoteIdentifier, quoteText } from "../../arrow/index.ts";
import type { Connection } from "../../kernel/index.ts";

export function jsonSelect(connection: Connection, select: string): string {
  const replaced = connection
    .describe(select)
    .fields.filter(({ type }) => holdsFloats(type))
    .map(({ name, type }) => `${finite(quoteIdentifier(name), type, 0)} AS ${quoteIdentifier(name)}`);
  return replaced.length === 0 ? select : `SELECT * REPLACE (${replaced.join(", ")}) FROM (${select})`;
}

function holdsFloats(type: DataType): boolean {
  return type.kind === "float" || childFields(type).some((field) => holdsFloats(field.type));
}

/** `depth` keeps the names of nested lambdas apart. */
function finite(value: string, type: DataType, depth: number): string {
  if (!holdsFloats(type)) return value;
  const children = childFields(type);
  switch (type.kind) {
    case "float":
      return `CASE WHEN isfinite(${value}) THEN ${value} END`;
    case "list":
    case "fixedList":
      return finiteItems(value, children[0]?.type ?? { kind: "null" }, depth);
    case "map": {
      const item = childFields(children[0]?.type ?? { kind: "null" })[1]?.type ?? { kind: "null" };
      const values = finiteItems(`map_values(${value})`, item, depth);
      return `CASE WHEN ${value} IS NOT NULL THEN map(map_keys(${value}), ${values}) END`;
    }
    case "struct": {
      const fields = children.map((field) => {
        const inside = finite(`struct_extract(${value}, ${quoteText(field.name)})`, field.type, depth);
        return `${quoteIdentifier(field.name)} := ${inside}`;
      });
      return `CASE WHEN ${value} IS NOT NULL THEN struct_pack(${fields.join(", ")}) END`;
    }
    default:
      return value;
  }
}

function finiteItems(list: string, item: DataType, depth: number): string {
  const name = `item${depth}`;
  return `list_transform(${list}, lambda ${name}: ${finite(name, item, depth + 1)})`;
}
