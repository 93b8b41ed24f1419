/** The Arrow type for a JavaScript value. Null leaves the type open: it is the null type until a value decides. */

import {
  hasFields,
  isBigInt64Array,
  isBigUint64Array,
  isDate,
  isMap,
  isTypedArray,
  isUint8Array,
  type TypedArray,
  typedArrayName,
} from "../../realm/index.ts";
import type { DataType, Field, IntType } from "../types.ts";

const int = (bits: 8 | 16 | 32 | 64, signed: boolean): IntType => ({ kind: "int", bits, signed });
const FLOAT64: DataType = { kind: "float", bits: 64 };
const NULL: DataType = { kind: "null" };

const ELEMENTS: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ["Float64Array", FLOAT64],
  ["Float32Array", { kind: "float", bits: 32 }],
  ["Int32Array", int(32, true)],
  ["Uint32Array", int(32, false)],
  ["Int16Array", int(16, true)],
  ["Uint16Array", int(16, false)],
  ["Int8Array", int(8, true)],
  ["Uint8Array", int(8, false)],
  ["Uint8ClampedArray", int(8, false)],
  ["BigInt64Array", int(64, true)],
  ["BigUint64Array", int(64, false)],
]);

/** A typed array whose elements are numbers, not bigints. */
export function isNumbers(value: unknown): value is Exclude<TypedArray, BigInt64Array | BigUint64Array> {
  return isTypedArray(value) && !(isBigInt64Array(value) || isBigUint64Array(value));
}

/** The type of a typed array's elements. */
export function elementType(array: TypedArray): DataType {
  return ELEMENTS.get(typedArrayName(array)) ?? FLOAT64;
}

/** An object that contains itself has no end. */
const DEEPEST = 200;

/** Null for a value that has no Arrow type (a function, a promise, a Set, an object that contains itself, …). */
export function inferType(value: unknown, depth = 0): DataType | null {
  switch (typeof value) {
    case "number":
      return FLOAT64;
    case "bigint":
      return int(64, true);
    case "string":
      return { kind: "utf8", large: false };
    case "boolean":
      return { kind: "bool" };
    case "undefined":
      return NULL;
    case "object":
      return value === null ? NULL : inferObject(value, depth);
    default:
      return null;
  }
}

function inferObject(value: object, depth: number): DataType | null {
  if (depth > DEEPEST) return null;
  if (isDate(value)) return { kind: "timestamp", unit: "us", timezone: null };
  if (isUint8Array(value)) return { kind: "binary", large: false };
  if (isTypedArray(value)) return listOf(elementType(value));
  if (Array.isArray(value)) return inferElements(value, depth, listOf);
  if (isMap(value)) {
    return inferElements([...value.keys()], depth, (key) =>
      inferElements([...value.values()], depth, (held) => mapOf(key, held)),
    );
  }
  return isPlain(value) ? inferStruct(value, depth) : null;
}

/** The type built around the type of the first element that is not null. */
function inferElements(
  values: readonly unknown[],
  depth: number,
  build: (type: DataType) => DataType | null,
): DataType | null {
  const first = values.find((value) => value !== null && value !== undefined);
  const type = inferType(first, depth + 1);
  return type === null ? null : build(type);
}

function listOf(type: DataType): DataType {
  return { kind: "list", child: { name: "item", type, nullable: true }, large: false };
}

function mapOf(key: DataType, value: DataType): DataType {
  return {
    kind: "map",
    key: { name: "key", type: key, nullable: false },
    value: { name: "value", type: value, nullable: true },
  };
}

function inferStruct(value: object, depth: number): DataType | null {
  const children: Field[] = [];
  for (const [name, held] of Object.entries(value)) {
    const type = inferType(held, depth + 1);
    if (type === null) return null;
    children.push({ name, type, nullable: true });
  }
  return children.length === 0 ? null : { kind: "struct", children };
}

/** An object with fields, of a class or not, that is not a value of another kind. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && hasFields(value) && !(Symbol.iterator in value);
}
