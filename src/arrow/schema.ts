/** Compares and combines schemas. Only the null type becomes another type; numbers never widen silently. */
import { RowShapeError } from "../errors/index.ts";
import { childFields, layoutOf, withChildren } from "./layout.ts";
import type { DataType, Field, Schema } from "./types.ts";

export function typeEquals(a: DataType, b: DataType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case "null":
    case "bool":
      return true;
    case "int":
      return b.kind === "int" && a.bits === b.bits && a.signed === b.signed;
    case "float":
      return b.kind === "float" && a.bits === b.bits;
    case "decimal":
      return b.kind === "decimal" && a.bits === b.bits && a.precision === b.precision && a.scale === b.scale;
    case "fixedBinary":
      return b.kind === "fixedBinary" && a.width === b.width;
    case "date":
    case "time":
    case "duration":
    case "interval":
      return "unit" in b && a.unit === b.unit;
    case "timestamp":
      return b.kind === "timestamp" && a.unit === b.unit && a.timezone === b.timezone;
    case "dictionary":
      return b.kind === "dictionary" && typeEquals(a.index, b.index) && typeEquals(a.value, b.value);
    case "utf8":
    case "binary":
      return "large" in b && a.large === b.large;
    case "fixedList":
      if (b.kind !== "fixedList" || a.size !== b.size) return false;
      break;
    case "list":
      if (b.kind !== "list" || a.large !== b.large) return false;
      break;
  }
  return fieldsEqual(childFields(a), childFields(b), a.kind === "struct");
}

/** Names count for structs. A list's child may be called "item", "element" or "l", depending on the writer. */
function fieldsEqual(a: readonly Field[], b: readonly Field[], named: boolean): boolean {
  if (a.length !== b.length) return false;
  return a.every((field, index) => {
    const other = b[index];
    return other !== undefined && (!named || field.name === other.name) && typeEquals(field.type, other.type);
  });
}

/** Same names, same types, same order. Nullability is ignored. */
export function schemaEquals(a: Schema, b: Schema): boolean {
  return a === b || fieldsEqual(a.fields, b.fields, true);
}

/** The type without dictionaries, as it is written into blocks. */
export function plainType(type: DataType): DataType {
  if (type.kind === "dictionary") return plainType(type.value);
  const children = childFields(type);
  if (children.length === 0) return type;
  const plain = children.map(plainField);
  return plain.every((field, index) => field === children[index]) ? type : withChildren(type, plain);
}

function plainField(field: Field): Field {
  const type = plainType(field.type);
  return type === field.type ? field : { ...field, type };
}

const plainSchemas = new WeakMap<Schema, Schema>();

/** The schema without dictionaries: the same object for the same schema, and the schema itself if it has none. */
export function plainSchema(schema: Schema): Schema {
  let plain = plainSchemas.get(schema);
  if (plain === undefined) {
    const fields = schema.fields.map(plainField);
    plain = fields.every((field, index) => field === schema.fields[index]) ? schema : { fields };
    plainSchemas.set(schema, plain);
  }
  return plain;
}

/** The one type that both can be read as, or null. Dictionaries count as their values. */
export function unifyTypes(a: DataType, b: DataType): DataType | null {
  const left = plainType(a);
  const right = plainType(b);
  if (typeEquals(left, right)) return left;
  if (left.kind === "null") return right;
  if (right.kind === "null") return left;
  if (left.kind !== right.kind || layoutOf(left).kind !== layoutOf(right).kind) return null;
  if (left.kind === "fixedList" && right.kind === "fixedList" && left.size !== right.size) return null;
  // Writers differ in whether offsets are large: offsets are read as they come and written as the first type has them.
  if (left.kind === "utf8" || left.kind === "binary") return left;
  const children = unifyFields(childFields(left), childFields(right), left.kind === "struct");
  return children === null || children.length === 0 ? null : withChildren(left, children);
}

function unifyFields(a: readonly Field[], b: readonly Field[], named: boolean): Field[] | null {
  if (a.length !== b.length) return null;
  const fields: Field[] = [];
  for (const [index, field] of a.entries()) {
    const other = b[index];
    if (other === undefined || (named && other.name !== field.name)) return null;
    const type = unifyTypes(field.type, other.type);
    if (type === null) return null;
    fields.push({ name: field.name, type, nullable: field.nullable || other.nullable });
  }
  return fields;
}

/**
 * The schema that rows of both fit, in the order of the first; null if columns or types differ. Columns are matched by
 * name, so the second may have another order.
 */
export function unifySchemas(a: Schema, b: Schema): Schema | null {
  if (a === b) return plainSchema(a);
  const order = columnOrder(a, b);
  if (order === null) return null;
  const fields = unifyFields(
    a.fields,
    order.flatMap((index) => b.fields[index] ?? []),
    true,
  );
  return fields === null ? null : { fields };
}

/** For each field of `a` its position in `b`; null if the two have different names. */
export function columnOrder(a: Schema, b: Schema): number[] | null {
  if (a.fields.length !== b.fields.length) return null;
  if (a.fields.every((field, index) => b.fields[index]?.name === field.name)) return a.fields.map((_, index) => index);
  const places = new Map(b.fields.map((field, index) => [field.name, index]));
  if (places.size !== b.fields.length || new Set(a.fields.map((field) => field.name)).size !== a.fields.length) {
    return null;
  }
  const order: number[] = [];
  for (const field of a.fields) {
    const place = places.get(field.name);
    if (place === undefined) return null;
    order.push(place);
  }
  return order;
}

/** Like columnOrder, but throws an error that names the first column that differs. */
export function sameColumns(a: Schema, b: Schema): number[] {
  const order = columnOrder(a, b);
  if (order !== null) return order;
  const names = (schema: Schema): string[] => schema.fields.map((field) => field.name);
  const [have, incoming] = [names(a), names(b)];
  const missing = have.find((name) => !incoming.includes(name));
  const extra = incoming.find((name) => !have.includes(name));
  const what = missing === undefined ? `has column "${extra ?? ""}" as well` : `lacks column "${missing}"`;
  throw new RowShapeError(
    `A later batch ${what}: the first has ${have.join(", ") || "none"}, this one ${incoming.join(", ") || "none"}.`,
    missing ?? extra ?? null,
  );
}
