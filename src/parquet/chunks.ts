/**
 * The column chunks of a small row group, if their pages can stand beside those of other files: every page is complete
 * by itself (there is no dictionary), and the sizes and counts in the footer are those of the pages.
 */
import { CompactReader, isList, isNumber, isStruct } from "./compact.ts";
import type { Footer, GroupPlace } from "./footer.ts";

export interface Chunk {
  /** Type, encodings, path and codec as written in the footer. Borrowed. */
  readonly kind: Uint8Array;
  /** Where its pages are in the file. */
  readonly start: number;
  readonly end: number;
  /** Bytes before compression. */
  readonly bytes: number;
}

/** Null if one of the chunks is unusual. Throws a RangeError if the bytes end too early. */
export function readChunks(file: Uint8Array, footer: Footer, group: GroupPlace): readonly Chunk[] | null {
  const reader = new CompactReader(file, group.start, group.end);
  const chunks: Chunk[] = [];
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id !== 1) {
      reader.skip(reader.type);
      continue;
    }
    const count = isList(reader.type) ? reader.list() : 0;
    if (count > 0 && !isStruct(reader.type)) return null;
    for (let i = 0; i < count; i++) {
      const chunk = chunkOf(reader, file, footer.start, group.rows);
      if (chunk === null) return null;
      chunks.push(chunk);
    }
  }
  return chunks;
}

/** Fields of ColumnChunk: 1 the path of another file; 3 metadata; 8 and 9 encryption. */
function chunkOf(reader: CompactReader, file: Uint8Array, end: number, rows: number): Chunk | null {
  let chunk: Chunk | null = null;
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id === 1 || id === 8 || id === 9) return null;
    if (id === 3 && isStruct(reader.type)) chunk = metadataOf(reader, rows);
    else reader.skip(reader.type);
  }
  return chunk !== null && chunk.end <= end && holdsPages(file, chunk, rows) ? chunk : null;
}

/** Field numbers of ColumnMetaData. The fields up to the codec say of what kind the column is. */
const CODEC = 4;
const VALUES = 5;
const UNPACKED = 6;
const PACKED = 7;
const FIRST_PAGE = 9;
const DICTIONARY = 11;

function metadataOf(reader: CompactReader, rows: number): Chunk | null {
  const from = reader.at;
  let kindEnd = from;
  let [values, bytes, length, start] = [-1, 0, 0, 0];
  let last = 0;
  let isUsual = true;
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    // Writers use this order. If a field is missing, the kind is a different one.
    if (id <= last) isUsual = false;
    last = id;
    if (!isNumber(reader.type)) reader.skip(reader.type);
    else {
      const value = reader.number();
      if (id === CODEC) kindEnd = reader.at;
      else if (id === VALUES) values = value;
      else if (id === UNPACKED) bytes = value;
      else if (id === PACKED) length = value;
      else if (id === FIRST_PAGE) start = value;
      else if (id === DICTIONARY && value !== 0) isUsual = false;
    }
  }
  if (!isUsual || kindEnd === from || values !== rows || start < 4 || length <= 0) return null;
  return { kind: reader.bytes.subarray(from, kindEnd), start, end: start + length, bytes };
}

const DATA_PAGE = 0;
const DATA_PAGE_2 = 3;

/** Fields of PageHeader: 1 its type, 3 the length of the page behind it, 5 and 8 the header of a data page. */
function holdsPages(file: Uint8Array, { start, end }: Chunk, rows: number): boolean {
  let values = 0;
  const reader = new CompactReader(file, start, end);
  while (reader.at < end) {
    let [type, length, own] = [-1, -1, -1];
    for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
      if (id === 1 && isNumber(reader.type)) type = reader.number();
      else if (id === 3 && isNumber(reader.type)) length = reader.number();
      else if ((id === 5 || id === 8) && isStruct(reader.type)) own = valuesOf(reader);
      else reader.skip(reader.type);
    }
    if ((type !== DATA_PAGE && type !== DATA_PAGE_2) || length < 0 || own < 0) return false;
    values += own;
    reader.at += length;
  }
  return reader.at === end && values === rows;
}

/** Both kinds of data pages have the number of values as their first field. */
function valuesOf(reader: CompactReader): number {
  let values = -1;
  for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
    if (id === 1 && isNumber(reader.type)) values = reader.number();
    else reader.skip(reader.type);
  }
  return values;
}

/** Fields of SchemaElement: 3 whether a value is required, optional or repeated. */
const REPETITION = 3;
const REPEATED = 2;

/** Whether every row has one value in each column, as far as the version and schema of a footer tell. */
export function isFlat(schema: Uint8Array): boolean {
  const reader = new CompactReader(schema, 0, schema.length);
  let isFlat = true;
  // Version and schema are the first two fields.
  reader.field(0);
  reader.number();
  reader.field(1);
  const count = reader.list();
  for (let i = 0; i < count; i++) {
    for (let id = reader.field(0); id !== 0; id = reader.field(id)) {
      if (id === REPETITION && isNumber(reader.type)) isFlat &&= reader.number() !== REPEATED;
      else reader.skip(reader.type);
    }
  }
  return isFlat;
}
