/**
 * Reads the footer of a Parquet file: where its parts lie, and what its row groups contain. It handles the usual files:
 * neither encrypted nor with data in other files. For all others, including damaged files, it returns null; the kernel
 * reads those and reports what is wrong.
 */
import { isErrorNamed } from "../realm/index.ts";
import { CompactReader, isBinary, isList, isNumber, isStruct } from "./compact.ts";

export interface Footer {
  /** The footer's offset in the file. */
  readonly start: number;
  /** Version and schema as written in the file. Borrowed, like the arrays below. */
  readonly schema: Uint8Array;
  readonly rows: number;
  readonly groups: readonly GroupPlace[];
  /** The program that wrote the file. */
  readonly writer: Uint8Array;
  /** The column orders of statistics as written in the file; empty when absent. */
  readonly orders: Uint8Array;
}

/** A row group's place in the footer, and its content. */
export interface GroupPlace {
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  /** Bytes before compression. */
  readonly bytes: number;
}

/** The metadata entry that turns byte columns into geographic values. */
const GEOGRAPHY = "geo";
const MAGIC = 0x31524150; // PAR1
/** A length and the magic number. */
const ENDING = 8;
const NOTHING = new Uint8Array();

/** Null when the file is not one of the usual kind. */
export function readFooter(file: Uint8Array): Footer | null {
  if (file.length < 4 + ENDING) return null;
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const end = file.length - ENDING;
  const start = end - view.getUint32(end, true);
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(end + 4, true) !== MAGIC || start < 4) return null;
  try {
    return partsOf(file, start, end);
  } catch (error) {
    if (isErrorNamed(error, "RangeError")) return null;
    throw error;
  }
}

/** Field numbers of FileMetaData. */
const VERSION = 1;
const SCHEMA = 2;
const ROWS = 3;
const GROUPS = 4;
const ENTRIES = 5;
const WRITER = 6;
const ORDERS = 7;

function partsOf(file: Uint8Array, start: number, end: number): Footer | null {
  const reader = new CompactReader(file, start, end);
  let rows = 0;
  let [schema, writer, orders]: [Uint8Array, Uint8Array, Uint8Array] = [NOTHING, NOTHING, NOTHING];
  let groups: readonly GroupPlace[] = [];
  let last = 0;
  for (let id = reader.field(last); id !== 0; last = id, id = reader.field(id)) {
    const { type } = reader;
    // Writers use this order. An unusual order means an unusual file.
    if (id <= last) return null;
    const from = reader.at;
    if (id === VERSION && isNumber(type)) reader.number();
    else if (id === SCHEMA && isList(type)) {
      if (last !== VERSION) return null;
      reader.skip(type);
      schema = file.subarray(start, reader.at);
    } else if (id === ROWS && isNumber(type)) rows = reader.number();
    else if (id === GROUPS && isList(type)) groups = groupsOf(reader);
    else if (id === ENTRIES && isList(type)) {
      if (hasGeography(reader)) return null;
    } else if (id === WRITER && isBinary(type)) writer = reader.binary();
    else if (id === ORDERS && isList(type)) {
      reader.skip(type);
      orders = file.subarray(from, reader.at);
    } else return null;
  }
  return schema.length === 0 ? null : { start, schema, rows, groups, writer, orders };
}

/** Field numbers of RowGroup. */
const TOTAL_BYTES = 2;
const GROUP_ROWS = 3;

function groupsOf(reader: CompactReader): readonly GroupPlace[] {
  const count = reader.list();
  if (count > 0 && !isStruct(reader.type)) throw new RangeError("row groups that are no structs");
  const groups: GroupPlace[] = [];
  for (let i = 0; i < count; i++) {
    const start = reader.at;
    let [rows, bytes] = [0, 0];
    for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
      if (id === TOTAL_BYTES && isNumber(reader.type)) bytes = reader.number();
      else if (id === GROUP_ROWS && isNumber(reader.type)) rows = reader.number();
      else reader.skip(reader.type);
    }
    groups.push({ start, end: reader.at, rows, bytes });
  }
  return groups;
}

function hasGeography(reader: CompactReader): boolean {
  const count = reader.list();
  if (count > 0 && !isStruct(reader.type)) throw new RangeError("entries that are no structs");
  let found = false;
  for (let i = 0; i < count; i++) {
    for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
      if (id === 1 && isBinary(reader.type)) found ||= Buffer.from(reader.binary()).toString("latin1") === GEOGRAPHY;
      else reader.skip(reader.type);
    }
  }
  return found;
}
