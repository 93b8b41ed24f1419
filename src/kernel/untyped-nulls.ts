/**
 * Nulls of no type through SQL. A function that gave only nulls so far leaves a column of the null type, which any
 * later type fits. DuckDB works with it inside a query, but gives it out as INTEGER, which no other type fits: `typeof`
 * inside the query tells which of the result's integers are no more than that.
 */
import { childFields, type DataType, type Field, type Schema } from "../arrow/index.ts";

export function hasUntypedNulls(type: DataType): boolean {
  return type.kind === "null" || childFields(type).some((field) => hasUntypedNulls(field.type));
}

/** Whether a column of the result may be one that has no type. */
export function mayBeUntyped(schema: Schema): boolean {
  return schema.fields.some((field) => hasInteger(field.type));
}

function hasInteger(type: DataType): boolean {
  if (type.kind === "int") return type.bits === 32 && type.signed;
  return childFields(type).some((field) => hasInteger(field.type));
}

/**
 * The SQL that tells the types inside the query, in columns c0, c1, … of one row; the join never holds, so nothing
 * runs.
 */
export function typesInside(sql: string, { fields }: Schema): string {
  const names = fields.map((_, index) => `c${index}`);
  const types = names.map((name) => `typeof(${name}) AS ${name}`);
  return `SELECT ${types.join(", ")} FROM (SELECT 1) AS one LEFT JOIN (\n${sql.replace(/[;\s]+$/, "")}\n) AS result(${names.join(", ")}) ON false`;
}

/** The schema with the null type where the query has no other. */
export function withUntypedNulls(schema: Schema, inside: Readonly<Record<string, unknown>>): Schema {
  const fields = schema.fields.map((field, index) => {
    const told = String(inside[`c${index}`]);
    return told.includes(UNTYPED) ? { ...field, type: untyped(field.type, told) } : field;
  });
  return { fields };
}

const UNTYPED = '"NULL"';

/** `told` is what `typeof` says of the type: read only as far as it can differ. */
function untyped(type: DataType, told: string): DataType {
  if (told === UNTYPED) return { kind: "null" };
  const inside = (field: Field, of: string): Field => ({ ...field, type: untyped(field.type, of) });
  switch (type.kind) {
    case "list":
    case "fixedList":
      return { ...type, child: inside(type.child, told.slice(0, told.lastIndexOf("["))) };
    case "struct": {
      const parts = partsOf(told).map((part) => part.replace(NAME, ""));
      return { kind: "struct", children: type.children.map((field, index) => inside(field, parts[index] ?? "")) };
    }
    case "map": {
      const [key = "", value = ""] = partsOf(told);
      return { kind: "map", key: inside(type.key, key), value: inside(type.value, value) };
    }
    default:
      return type;
  }
}

/** A field's name and the space after it. */
const NAME = /^(?:"(?:[^"]|"")*"|[^\s"]+)\s/;
/** A quoted name or value, a mark, or a stretch without any. */
const PIECE = /"(?:[^"]|"")*"|'(?:[^']|'')*'|[(),]|[^"'(),]+/g;

/** What is between the outer brackets, by its commas. */
function partsOf(told: string): string[] {
  const parts: string[] = [""];
  let depth = 0;
  for (const [piece] of told.matchAll(PIECE)) {
    if (piece === ")") depth -= 1;
    if (depth === 1 && piece === ",") parts.push("");
    else if (depth > 0) parts[parts.length - 1] += piece;
    if (piece === "(") depth += 1;
  }
  return parts.map((part) => part.trim());
}
