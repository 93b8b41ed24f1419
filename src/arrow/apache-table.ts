/**
 * Reads apache-arrow's tables by their properties: batches of `Data`, each with a type, buffers by name, children and
 * perhaps a dictionary. Slices of apache-arrow shift values and offsets but keep `offset` for bitmaps; here both become
 * plain.
 */
import { ValueError } from "../errors/index.ts";
import { bitmapBytes, copyBits } from "./bitmap.ts";
import { concatBatches } from "./concat/block-builder.ts";
import { readViews } from "./ipc/string-views.ts";
import { CODE } from "./ipc/type-code.ts";
import { layoutOf } from "./layout.ts";
import type { DataType, Field, IntType, RecordBatch, Schema, TimeUnit, Vector } from "./types.ts";
import { emptyBatch } from "./vector.ts";

interface ApacheField {
  readonly name: string;
  readonly nullable: boolean;
  readonly type: ApacheType;
}

/** The properties of apache-arrow's type classes, each present where it has a meaning. */
interface ApacheType {
  readonly typeId: number;
  readonly bitWidth?: number;
  readonly isSigned?: boolean;
  readonly precision?: number;
  readonly scale?: number;
  readonly unit?: number;
  readonly timezone?: string | null;
  readonly byteWidth?: number;
  readonly listSize?: number;
  readonly children?: readonly ApacheField[] | null;
  readonly indices?: ApacheType;
  readonly dictionary?: ApacheType;
}

interface ApacheData {
  readonly type: ApacheType;
  readonly length: number;
  readonly offset: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
  readonly values?: ArrayBufferView;
  readonly valueOffsets?: ArrayBufferView;
  readonly variadicBuffers?: readonly Uint8Array[];
  readonly children: readonly ApacheData[];
  readonly dictionary?: { readonly data: readonly ApacheData[] };
}

interface ApacheTable {
  readonly schema: { readonly fields: readonly ApacheField[] };
  readonly batches: readonly { readonly data: ApacheData }[];
}

/** The only place that trusts a foreign object to be what its properties suggest. */
export function isApacheTable(value: unknown): value is ApacheTable {
  if (typeof value !== "object" || value === null || !("schema" in value) || !("batches" in value)) return false;
  const { schema, batches } = value;
  if (typeof schema !== "object" || schema === null || !("fields" in schema) || !Array.isArray(schema.fields)) {
    return false;
  }
  return Array.isArray(batches) && batches.every((batch) => typeof batch?.data === "object");
}

export function fromApacheTable(table: ApacheTable): RecordBatch[] {
  const schema: Schema = { fields: table.schema.fields.map(readField) };
  if (table.batches.length === 0) return [emptyBatch(schema)];
  return table.batches.map(({ data }) => ({
    schema,
    length: data.length,
    columns: schema.fields.map((field, index) => {
      const child = data.children[index];
      if (child === undefined)
        throw new ValueError(`The Arrow table lacks column "${field.name}" in a batch.`, field.name);
      return readData(child, field.type, field.name);
    }),
  }));
}

function readField(field: ApacheField): Field {
  return { name: field.name, nullable: field.nullable, type: readType(field.type, field.name) };
}

const UNITS: readonly TimeUnit[] = ["s", "ms", "us", "ns"];

function readInt(type: ApacheType | undefined): IntType {
  const bits = type?.bitWidth;
  return {
    kind: "int",
    bits: bits === 8 || bits === 16 || bits === 64 ? bits : 32,
    signed: type?.isSigned ?? true,
  };
}

function readType(type: ApacheType, name: string): DataType {
  const unit = UNITS[type.unit ?? 0] ?? "s";
  const children = (type.children ?? []).map(readField);
  const [child] = children;
  switch (type.typeId) {
    case -1:
      if (type.dictionary === undefined) break;
      return { kind: "dictionary", index: readInt(type.indices), value: readType(type.dictionary, name) };
    case CODE.null:
      return { kind: "null" };
    case CODE.bool:
      return { kind: "bool" };
    case CODE.int:
      return readInt(type);
    case CODE.float:
      return { kind: "float", bits: ([16, 32, 64] as const)[type.precision ?? 2] ?? 64 };
    case CODE.decimal: {
      const bits = type.bitWidth === 256 ? 256 : type.bitWidth === 64 ? 64 : type.bitWidth === 32 ? 32 : 128;
      return { kind: "decimal", precision: type.precision ?? 38, scale: type.scale ?? 0, bits };
    }
    case CODE.utf8:
    case CODE.utf8View:
      return { kind: "utf8", large: false };
    case CODE.largeUtf8:
      return { kind: "utf8", large: true };
    case CODE.binary:
    case CODE.binaryView:
      return { kind: "binary", large: false };
    case CODE.largeBinary:
      return { kind: "binary", large: true };
    case CODE.fixedBinary:
      return { kind: "fixedBinary", width: type.byteWidth ?? 0 };
    case CODE.date:
      return { kind: "date", unit: type.unit === 0 ? "day" : "ms" };
    case CODE.time:
      return { kind: "time", unit };
    case CODE.timestamp:
      return { kind: "timestamp", unit, timezone: type.timezone ?? null };
    case CODE.duration:
      return { kind: "duration", unit };
    case CODE.interval:
      return {
        kind: "interval",
        unit: (["yearMonth", "dayTime", "monthDayNano"] as const)[type.unit ?? 0] ?? "dayTime",
      };
    case CODE.list:
    case CODE.largeList:
      if (child === undefined) break;
      return { kind: "list", child, large: type.typeId === CODE.largeList };
    case CODE.fixedList:
      if (child === undefined) break;
      return { kind: "fixedList", child, size: type.listSize ?? 0 };
    case CODE.struct:
      return { kind: "struct", children };
    case CODE.map: {
      if (child?.type.kind !== "struct") break;
      const [key, value] = child.type.children;
      if (key !== undefined && value !== undefined) return { kind: "map", key, value };
    }
  }
  throw new ValueError(
    `Column "${name}" is of apache-arrow's type ${type.typeId}, which Spillway does not read.`,
    name,
  );
}

function bytesOf(view: ArrayBufferView | undefined): Uint8Array {
  return view === undefined ? new Uint8Array(0) : new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
}

function bitsFrom(bits: Uint8Array, start: number, length: number): Uint8Array {
  if (start === 0) return bits;
  const copy = new Uint8Array(bitmapBytes(length));
  copyBits(copy, 0, bits, start, length);
  return copy;
}

function readData(data: ApacheData, type: DataType, name: string): Vector {
  const { length, offset } = data;
  const layout = layoutOf(type);
  const bitmap = data.nullBitmap;
  const validity = bitmap && bitmap.byteLength > 0 && data.nullCount > 0 ? bitsFrom(bitmap, offset, length) : null;
  const nullCount = type.kind === "null" ? length : validity === null ? 0 : data.nullCount;
  const children = data.children.map((child) => readData(child, readType(child.type, name), name));
  const vector = (buffers: (Uint8Array | null)[], dictionary: Vector | null = null): Vector => ({
    type,
    length,
    nullCount,
    offset: 0,
    buffers,
    children: dictionary === null ? children : [],
    dictionary,
  });
  switch (layout.kind) {
    case "none":
      return vector([]);
    case "bits":
      return vector([validity, bitsFrom(bytesOf(data.values), offset, length)]);
    case "fixed":
      return vector([validity, bytesOf(data.values)]);
    case "bytes":
      if (data.type.typeId === CODE.utf8View || data.type.typeId === CODE.binaryView) {
        return vector([validity, ...readViews(bytesOf(data.values), data.variadicBuffers ?? [], validity, length)]);
      }
      return vector([validity, bytesOf(data.valueOffsets), bytesOf(data.values)]);
    case "list":
      return vector([validity, bytesOf(data.valueOffsets)]);
    case "fixedList":
    case "struct":
      return vector([validity]);
    case "dictionary": {
      const value = type.kind === "dictionary" ? type.value : type;
      const parts = (data.dictionary?.data ?? []).map((part) => readData(part, value, name));
      return vector([validity, bytesOf(data.values)], joined(parts, value));
    }
  }
}

/** A dictionary may come in several parts. */
function joined(parts: readonly Vector[], type: DataType): Vector | null {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return first ?? null;
  const schema: Schema = { fields: [{ name: "values", type, nullable: true }] };
  return concatBatches(parts.map((part) => ({ schema, length: part.length, columns: [part] }))).columns[0] ?? null;
}
