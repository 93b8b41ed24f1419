/** Arrow's numbers for types and units in its metadata (Schema.fbs); reads and writes one type. */
import { ValueError } from "../../errors/index.ts";
import type { DataType, Field, IntType, TimeUnit } from "../types.ts";
import type { FlatBufferTable } from "./flatbuffer-reader.ts";
import type { FlatBufferWriter, Position } from "./flatbuffer-writer.ts";

export const CODE = {
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  interval: 11,
  list: 12,
  struct: 13,
  union: 14,
  fixedBinary: 15,
  fixedList: 16,
  map: 17,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  largeList: 21,
  runEndEncoded: 22,
  binaryView: 23,
  utf8View: 24,
  listView: 25,
  largeListView: 26,
} as const;

const UNITS: readonly TimeUnit[] = ["s", "ms", "us", "ns"];
const INTERVALS = ["yearMonth", "dayTime", "monthDayNano"] as const;
const FLOATS = [16, 32, 64] as const;

export function typeCode(type: DataType): number {
  switch (type.kind) {
    case "utf8":
      return type.large ? CODE.largeUtf8 : CODE.utf8;
    case "binary":
      return type.large ? CODE.largeBinary : CODE.binary;
    case "list":
      return type.large ? CODE.largeList : CODE.list;
    case "dictionary":
      throw new ValueError("Dictionaries are written as their values.");
    default:
      return CODE[type.kind];
  }
}

/** Writes the table of a type's parameters (empty for many types). */
export function writeType(writer: FlatBufferWriter, type: DataType): Position {
  const timezone = type.kind === "timestamp" && type.timezone !== null ? writer.string(type.timezone) : null;
  writer.startTable();
  switch (type.kind) {
    case "int":
      writer.addInt32(0, type.bits);
      writer.addInt8(1, type.signed ? 1 : 0);
      break;
    case "float":
      writer.addInt16(0, FLOATS.indexOf(type.bits));
      break;
    case "decimal":
      writer.addInt32(0, type.precision);
      writer.addInt32(1, type.scale);
      writer.addInt32(2, type.bits);
      break;
    case "fixedBinary":
      writer.addInt32(0, type.width);
      break;
    case "date":
      writer.addInt16(0, type.unit === "day" ? 0 : 1);
      break;
    case "time":
      writer.addInt16(0, UNITS.indexOf(type.unit));
      writer.addInt32(1, type.unit === "s" || type.unit === "ms" ? 32 : 64);
      break;
    case "timestamp":
      writer.addInt16(0, UNITS.indexOf(type.unit));
      if (timezone !== null) writer.addPointer(1, timezone);
      break;
    case "duration":
      writer.addInt16(0, UNITS.indexOf(type.unit));
      break;
    case "interval":
      writer.addInt16(0, INTERVALS.indexOf(type.unit));
      break;
    case "fixedList":
      writer.addInt32(0, type.size);
      break;
    case "map":
      writer.addInt8(0, 0);
      break;
  }
  return writer.endTable();
}

/** How values are encoded in the bytes, if not in the layout that they are read into. */
export type Encoding = "plain" | "views";

interface ReadType {
  readonly type: DataType;
  readonly encoding: Encoding;
}

function unit(code: number): TimeUnit {
  const found = UNITS[code];
  if (found === undefined) throw new ValueError(`Not Arrow data: time unit ${code}.`);
  return found;
}

export function readInt(table: FlatBufferTable | null, name: string): IntType {
  const bits = table?.int32(0, 0) ?? 32;
  const signed = table === null || table.int8(1, 0) !== 0;
  if (bits === 8 || bits === 16 || bits === 32 || bits === 64) return { kind: "int", bits, signed };
  throw notRead(name, `${signed ? "" : "u"}int${bits}`);
}

function notRead(name: string, type: string): ValueError {
  return new ValueError(
    `Column "${name}" is of Arrow's ${type} type, which Spillway does not read. Cast it before writing the data.`,
    name,
  );
}

/** The type of a field, from its code, its parameters and its children. */
export function readType(code: number, table: FlatBufferTable, children: readonly Field[], name: string): ReadType {
  const plain = (type: DataType): ReadType => ({ type, encoding: "plain" });
  const only = (): Field => {
    const [child] = children;
    if (child === undefined) throw new ValueError(`Not Arrow data: the list column "${name}" has no child.`, name);
    return child;
  };
  switch (code) {
    case CODE.null:
      return plain({ kind: "null" });
    case CODE.bool:
      return plain({ kind: "bool" });
    case CODE.int:
      return plain(readInt(table, name));
    case CODE.float:
      return plain({ kind: "float", bits: FLOATS[table.int16(0, 0)] ?? 64 });
    case CODE.decimal: {
      const bits = table.int32(2, 128);
      if (bits !== 32 && bits !== 64 && bits !== 128 && bits !== 256) break;
      return plain({ kind: "decimal", precision: table.int32(0, 0), scale: table.int32(1, 0), bits });
    }
    case CODE.utf8:
    case CODE.largeUtf8:
      return plain({ kind: "utf8", large: code === CODE.largeUtf8 });
    case CODE.binary:
    case CODE.largeBinary:
      return plain({ kind: "binary", large: code === CODE.largeBinary });
    case CODE.utf8View:
      return { type: { kind: "utf8", large: false }, encoding: "views" };
    case CODE.binaryView:
      return { type: { kind: "binary", large: false }, encoding: "views" };
    case CODE.fixedBinary:
      return plain({ kind: "fixedBinary", width: table.int32(0, 0) });
    case CODE.date:
      return plain({ kind: "date", unit: table.int16(0, 1) === 0 ? "day" : "ms" });
    case CODE.time:
      return plain({ kind: "time", unit: unit(table.int16(0, 1)) });
    case CODE.timestamp:
      return plain({ kind: "timestamp", unit: unit(table.int16(0, 0)), timezone: table.string(1) || null });
    case CODE.duration:
      return plain({ kind: "duration", unit: unit(table.int16(0, 1)) });
    case CODE.interval:
      return plain({ kind: "interval", unit: INTERVALS[table.int16(0, 0)] ?? "monthDayNano" });
    case CODE.list:
    case CODE.largeList:
      return plain({ kind: "list", child: only(), large: code === CODE.largeList });
    case CODE.fixedList:
      return plain({ kind: "fixedList", child: only(), size: table.int32(0, 0) });
    case CODE.struct:
      return plain({ kind: "struct", children });
    case CODE.map: {
      const entries = only().type;
      if (entries.kind !== "struct") break;
      const [key, value] = entries.children;
      if (key === undefined || value === undefined) break;
      return plain({ kind: "map", key, value });
    }
  }
  const known = Object.entries(CODE).find(([, number]) => number === code)?.[0] ?? `type ${code}`;
  throw notRead(name, known);
}
