/** The Arrow type that a JavaScript value stands for. Nulls leave a type open: the null type, until a value decides. */

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

/** A value of no Arrow type (a function, a promise, a Set, …) gives null. */
export function inferType(value: unknown): DataType | null {
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
      return value === null ? NULL : inferObject(value);
    default:
      return null;
  }
}

function inferObject(value: object): DataType | null {
  if (isDate(value)) return { kind: "timestamp", unit: "us", timezone: null };
  if (isUint8Array(value)) return { kind: "binary", large: false };
  if (isTypedArray(value)) return listOf(elementType(value));
  if (Array.isArray(value)) return inferElements(value, listOf);
  if (isMap(value)) {
    return inferElements([...value.keys()], (key) => inferElements([...value.values()], (held) => mapOf(key, held)));
  }
  return isPlain(value) ? inferStruct(value) : null;
}

/** The type built around the elements' type: that of the first one that is not null. */
function inferElements(values: readonly unknown[], build: (type: DataType) => DataType | null): DataType | null {
  const first = values.find((value) => value !== null && value !== undefined);
  const type = inferType(first);
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

function inferStruct(value: object): DataType | null {
  const children: Field[] = [];
  for (const [name, held] of Object.entries(value)) {
    const type = inferType(held);
    if (type === null) return null;
    children.push({ name, type, nullable: true });
  }
  return children.length === 0 ? null : { kind: "struct", children };
}

/** An object of fields, of a class or not; not one of the objects that are values of another kind. */
export function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && hasFields(value) && !(Symbol.iterator in value);
}
