/**
 * Nulls of no type in SQL. If a function has only returned nulls so far, its column has the null type, which is
 * compatible with any later type. DuckDB keeps that type inside a query but returns it as INTEGER, which is compatible
 * with no other type. `typeof` inside the query tells which integers of the result are really nulls of no type.
 */
import { childFields, type DataType, type Field, type Schema } from "../arrow/index.ts";

export function hasUntypedNulls(type: DataType): boolean {
  return type.kind === "null" || childFields(type).some((field) => hasUntypedNulls(field.type));
}

/** Whether a column of the result may have no type. */
export function mayBeUntyped(schema: Schema): boolean {
  return schema.fields.some((field) => hasInteger(field.type));
}

function hasInteger(type: DataType): boolean {
  if (type.kind === "int") return type.bits === 32 && type.signed;
  return childFields(type).some((field) => hasInteger(field.type));
}

/**
 * SQL that returns the types inside the query, in columns c0, c1, … of one row. Its join condition is never true, so
 * nothing of the query runs.
 */
export function typesInside(sql: string, { fields }: Schema): string {
  const names = fields.map((_, index) => `c${index}`);
  const types = names.map((name) => `typeof(${name}) AS ${name}`);
  return `SELECT ${types.join(", ")} FROM (SELECT 1) AS one LEFT JOIN (\n${sql.replace(/[;\s]+$/, "")}\n) AS result(${names.join(", ")}) ON false`;
}

/** The schema, with the null type for the columns that have no type inside the query. */
export function withUntypedNulls(schema: Schema, inside: Readonly<Record<string, unknown>>): Schema {
  const fields = schema.fields.map((field, index) => {
    const told = String(inside[`c${index}`]);
    return told.includes(UNTYPED) ? { ...field, type: untyped(field.type, told) } : field;
  });
  return { fields };
}

const UNTYPED = '"NULL"';

/** `told` is what `typeof` says about the type. It is parsed only as far as it can differ. */
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
/** A quoted name or value, a punctuation mark, or a stretch without any. */
const PIECE = /"(?:[^"]|"")*"|'(?:[^']|'')*'|[(),]|[^"'(),]+/g;

/** The parts between the outer brackets, split at commas. */
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
