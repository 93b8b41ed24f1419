/**
 * Turns a record batch message into vectors: views of the body, or copies if the writer chose compression or string
 * views.
 */
import { ValueError } from "../../errors/index.ts";
import { layoutOf } from "../layout.ts";
import type { DataType, RecordBatch, Vector } from "../types.ts";
import { type Decompress, decompressor } from "./compression.ts";
import type { FlatBufferTable } from "./flatbuffer-reader.ts";
import type { FieldSource, SchemaSource } from "./schema-message.ts";
import { readViews } from "./string-views.ts";

type Dictionaries = ReadonlyMap<number, Vector>;

export function readBatch(
  source: SchemaSource,
  header: FlatBufferTable,
  body: Uint8Array,
  dictionaries: Dictionaries,
): RecordBatch {
  const length = header.int64(0, 0);
  const cursor = new BodyCursor(header, body);
  const columns = source.fields.map((field) => readVector(field, cursor, dictionaries));
  for (const [index, column] of columns.entries()) {
    if (column.length !== length) {
      throw new ValueError(
        `Not Arrow data: a batch of ${length} rows has ${column.length} values in column "${source.schema.fields[index]?.name}".`,
      );
    }
  }
  return { schema: source.schema, length, columns };
}

/** The one column in a dictionary batch. */
export function readDictionary(
  field: FieldSource,
  header: FlatBufferTable,
  body: Uint8Array,
  dictionaries: Dictionaries,
): Vector {
  return readVector({ ...field, dictionary: null }, new BodyCursor(header, body), dictionaries, valueType(field));
}

function valueType(field: FieldSource): DataType {
  return field.dictionary?.value ?? field.field.type;
}

class BodyCursor {
  private readonly nodes: number[];
  private readonly regions: number[];
  private readonly variadic: number[];
  private readonly decompress: Decompress | null;
  private node = 0;
  private region = 0;
  private view = 0;

  constructor(
    header: FlatBufferTable,
    private readonly body: Uint8Array,
  ) {
    this.nodes = header.int64s(1, 2);
    this.regions = header.int64s(2, 2);
    this.variadic = header.int64s(4, 1);
    const compression = header.table(3);
    this.decompress = compression === null ? null : decompressor(compression.int8(0, 0));
  }
  nextNode(): { length: number; nullCount: number } {
    const length = this.nodes[this.node];
    const nullCount = this.nodes[this.node + 1];
    if (length === undefined || nullCount === undefined) throw new ValueError("Not Arrow data: a batch lacks columns.");
    this.node += 2;
    return { length, nullCount };
  }
  /** How many data buffers the next column of views has. */
  nextVariadic(): number {
    return this.variadic[this.view++] ?? 0;
  }
  nextBuffer(): Uint8Array {
    const offset = this.regions[this.region];
    const length = this.regions[this.region + 1];
    this.region += 2;
    if (offset === undefined || length === undefined) throw new ValueError("Not Arrow data: a batch lacks buffers.");
    if (offset < 0 || length < 0 || offset + length > this.body.byteLength) {
      throw new ValueError(
        `Arrow data cut short: a buffer ends at byte ${offset + length} of a body of ${this.body.byteLength}.`,
      );
    }
    const bytes = this.body.subarray(offset, offset + length);
    return this.decompress === null || length === 0 ? bytes : this.decompress(bytes);
  }
}

function readVector(
  field: FieldSource,
  cursor: BodyCursor,
  dictionaries: Dictionaries,
  type: DataType = field.field.type,
): Vector {
  const { length, nullCount } = cursor.nextNode();
  const layout = layoutOf(type);
  const vector = (
    buffers: (Uint8Array | null)[],
    children: readonly Vector[] = [],
    dictionary: Vector | null = null,
  ): Vector => ({ type, length, nullCount, offset: 0, buffers, children, dictionary });
  if (layout.kind === "none") return { ...vector([]), nullCount: length };
  const bits = cursor.nextBuffer();
  const validity = nullCount === 0 || bits.byteLength === 0 ? null : bits;
  const data = (width: number): Uint8Array => {
    const bytes = cursor.nextBuffer();
    if (bytes.byteLength < Math.ceil(length * width)) {
      throw new ValueError(
        `Arrow data cut short: ${length} values of column "${field.field.name}" need ${Math.ceil(length * width)} bytes, there are ${bytes.byteLength}.`,
        field.field.name,
      );
    }
    return bytes;
  };
  const offsets = (large: boolean): Uint8Array => {
    const bytes = cursor.nextBuffer();
    const width = large ? 8 : 4;
    if (bytes.byteLength >= (length + 1) * width) return bytes;
    if (length === 0) return new Uint8Array(width);
    throw new ValueError(`Arrow data cut short: column "${field.field.name}" lacks offsets.`, field.field.name);
  };
  const children = (): Vector[] => field.children.map((child) => readVector(child, cursor, dictionaries));
  switch (layout.kind) {
    case "bits":
      return vector([validity, data(1 / 8)]);
    case "fixed":
      return vector([validity, data(layout.width)]);
    case "bytes":
      if (field.encoding === "views" && field.dictionary === null) {
        const views = data(16);
        const buffers = Array.from({ length: cursor.nextVariadic() }, () => cursor.nextBuffer());
        return vector([validity, ...readViews(views, buffers, validity, length)]);
      }
      return vector([validity, offsets(layout.large), cursor.nextBuffer()]);
    case "list":
      return vector([validity, offsets(layout.large)], children());
    case "fixedList":
    case "struct":
      return vector([validity], children());
    case "dictionary": {
      const indices = data(layout.width);
      const id = field.dictionary?.id ?? -1;
      const values = dictionaries.get(id);
      if (values === undefined && length > nullCount) {
        throw new ValueError(`Arrow data lacks dictionary ${id} of column "${field.field.name}".`, field.field.name);
      }
      return vector([validity, indices], [], values ?? null);
    }
  }
}
