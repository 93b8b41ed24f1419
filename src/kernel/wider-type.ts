/**
 * The type that can hold the values of two types without loss, or null. Needed when rows of different origins meet in
 * one table. Numbers widen to numbers, times to times; nothing becomes text. A null of no type is compatible with every
 * type.
 */
import { childFields, type DataType, type Field, plainType, typeEquals, withChildren } from "../arrow/index.ts";

type Of<Kind extends DataType["kind"]> = Extract<DataType, { kind: Kind }>;

const WIDEST_DECIMAL = 38;
const DOUBLE: DataType = { kind: "float", bits: 64 };
const TEXT: DataType = { kind: "utf8", large: false };
const BYTES: DataType = { kind: "binary", large: false };

export function widerType(a: DataType, b: DataType): DataType | null {
  const [left, right] = [plainType(a), plainType(b)];
  if (typeEquals(left, right) || right.kind === "null") return left;
  if (left.kind === "null") return right;
  if (isNumber(left) && isNumber(right)) return widerNumber(left, right);
  if (left.kind === "utf8" && right.kind === "utf8") return TEXT;
  if (isBytes(left) && isBytes(right)) return BYTES;
  return widerTime(left, right) ?? widerNest(left, right);
}

type NumberType = Of<"int"> | Of<"float"> | Of<"decimal">;

function isNumber(type: DataType): type is NumberType {
  return type.kind === "int" || type.kind === "float" || type.kind === "decimal";
}

function isBytes(type: DataType): boolean {
  return type.kind === "binary" || type.kind === "fixedBinary";
}

function widerNumber(a: NumberType, b: NumberType): DataType {
  if (a.kind === "float" || b.kind === "float") {
    return a.kind === "float" && b.kind === "float" ? (a.bits > b.bits ? a : b) : DOUBLE;
  }
  if (a.kind === "int" && b.kind === "int") {
    const integer = widerInteger(a, b);
    if (integer !== null) return integer;
  }
  const [left, right] = [asDecimal(a), asDecimal(b)];
  const scale = Math.max(left.scale, right.scale);
  const precision = scale + Math.max(left.precision - left.scale, right.precision - right.scale);
  return precision > WIDEST_DECIMAL ? DOUBLE : { kind: "decimal", precision, scale, bits: 128 };
}

function widerInteger(a: Of<"int">, b: Of<"int">): DataType | null {
  if (a.signed === b.signed) return a.bits > b.bits ? a : b;
  const [signed, unsigned] = a.signed ? [a, b] : [b, a];
  if (signed.bits > unsigned.bits) return signed;
  return unsigned.bits === 64
    ? null
    : { kind: "int", signed: true, bits: unsigned.bits === 32 ? 64 : unsigned.bits === 16 ? 32 : 16 };
}

const DIGITS = { 8: 3, 16: 5, 32: 10, 64: 20 } as const;

function asDecimal(type: Of<"int"> | Of<"decimal">): { readonly precision: number; readonly scale: number } {
  return type.kind === "int" ? { precision: DIGITS[type.bits], scale: 0 } : type;
}

function widerTime(a: DataType, b: DataType): DataType | null {
  if (a.kind === "time" && b.kind === "time")
    return { kind: "time", unit: a.unit === "ns" || b.unit === "ns" ? "ns" : "us" };
  if (isSpan(a) && isSpan(b)) return { kind: "interval", unit: "monthDayNano" };
  const zone = zoneOf(a) ?? zoneOf(b);
  if (zone === null || (zoneOf(a) ?? zone) !== zone || (zoneOf(b) ?? zone) !== zone) return null;
  if (!isMoment(a) || !isMoment(b)) return null;
  if (a.kind === "date" && b.kind === "date") return { kind: "date", unit: "day" };
  const unit = a.unit === "ns" || b.unit === "ns" ? "ns" : "us";
  return { kind: "timestamp", unit: zone === "none" ? unit : "us", timezone: zone === "none" ? null : "UTC" };
}

function isSpan(type: DataType): boolean {
  return type.kind === "duration" || type.kind === "interval";
}

function isMoment(type: DataType): type is Of<"date"> | Of<"timestamp"> {
  return type.kind === "date" || type.kind === "timestamp";
}

/** A date is compatible only with timestamps without a zone. */
function zoneOf(type: DataType): "none" | "some" | null {
  if (type.kind === "timestamp") return type.timezone === null ? "none" : "some";
  return type.kind === "date" ? "none" : null;
}

function widerNest(a: DataType, b: DataType): DataType | null {
  if (a.kind === "fixedList" && b.kind === "fixedList" && a.size !== b.size) return null;
  const areLists = isList(a) && isList(b);
  if (a.kind !== b.kind && !areLists) return null;
  const fields = widerFields(childFields(a), childFields(b), a.kind === "struct");
  const [first] = fields ?? [];
  if (fields === null || first === undefined) return null;
  return areLists && a.kind !== b.kind ? { kind: "list", child: first, large: false } : withChildren(a, fields);
}

function isList(type: DataType): boolean {
  return type.kind === "list" || type.kind === "fixedList";
}

function widerFields(a: readonly Field[], b: readonly Field[], named: boolean): readonly Field[] | null {
  if (a.length !== b.length) return null;
  const fields: Field[] = [];
  for (const [index, field] of a.entries()) {
    const other = named ? b.find(({ name }) => name === field.name) : b[index];
    const type = other === undefined ? null : widerType(field.type, other.type);
    if (type === null) return null;
    fields.push({ ...field, type });
  }
  return fields;
}
