/**
 * How DuckDB converts Arrow types: the conversion for a list of columns, and the type that a column gets. A result
 * column must be declared with exactly that type, because a vector of another type aborts the process. So DuckDB itself
 * is asked, by converting zero rows. Answers are kept by type, so that a new table needs no new conversion.
 */

import { childFields, type DataType, type Field, typeName } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { pin } from "../native/index.ts";
import { Cells, destroyHandle, SCHEMA } from "./cells.ts";
import { ArrayIn, harmlessRelease, nothingIn } from "./column-in.ts";
import { throwErrorData } from "./failure.ts";
import { duckdb } from "./library.ts";

const MOST_REMEMBERED = 512;
const ARROW_FLAG_NULLABLE = 2;

export interface Conversion {
  readonly handle: number;
  /** How many scans use it at present. */
  users: number;
}

const keys = new WeakMap<DataType, string>();

function keyOf(type: DataType): string {
  let key = keys.get(type);
  if (key === undefined) {
    key = JSON.stringify(type);
    keys.set(type, key);
  }
  return key;
}

export class Conversions {
  readonly #connection: number;
  readonly #conversions = new Map<string, Conversion>();
  readonly #types = new Map<string, number>();
  readonly #out = new Cells(1);

  constructor(connection: number) {
    this.#connection = connection;
  }

  /** The conversion for columns of these types. Give it back with `release`. */
  acquire(types: readonly DataType[]): Conversion {
    const key = types.map(keyOf).join();
    let conversion = this.#conversions.get(key);
    if (conversion === undefined) {
      this.#makeRoom();
      conversion = { handle: this.#convert(types), users: 0 };
      this.#conversions.set(key, conversion);
    }
    conversion.users += 1;
    return conversion;
  }

  release(conversion: Conversion): void {
    conversion.users -= 1;
  }

  /** The DuckDB type that a column of this type gets. The cache owns it. */
  logicalType(type: DataType): number {
    const key = keyOf(type);
    let handle = this.#types.get(key);
    if (handle === undefined) {
      handle = this.#ask(type);
      this.#types.set(key, handle);
    }
    return handle;
  }

  /** Converts the rows that `array` shows into a new chunk. */
  chunk(array: ArrayIn, conversion: Conversion): number {
    const api = duckdb();
    this.#out.set(0, 0);
    throwErrorData(
      api.fromArrow(this.#connection, array.address, conversion.handle, this.#out.address),
      "while Arrow data was handed to the kernel",
    );
    return this.#out.get(0);
  }

  close(): void {
    const api = duckdb();
    for (const { handle } of this.#conversions.values()) destroyHandle(api.destroyArrowSchema, handle);
    for (const handle of this.#types.values()) destroyHandle(api.destroyType, handle);
    this.#conversions.clear();
    this.#types.clear();
  }

  #ask(type: DataType): number {
    const api = duckdb();
    const conversion = this.acquire([type]);
    try {
      const array = new ArrayIn([type]);
      const zeros = pin(64);
      array.show([nothingIn(type, zeros.address)], 0, 0);
      const chunk = this.chunk(array, conversion);
      const handle = api.vectorType(api.chunkVector(chunk, 0));
      destroyHandle(api.destroyChunk, chunk);
      return handle;
    } finally {
      this.release(conversion);
    }
  }

  #convert(types: readonly DataType[]): number {
    const fields = types.map((type, index): Field => ({ name: `c${index}`, type, nullable: true }));
    const schema = new SchemaIn({ name: "", nullable: false, type: { kind: "struct", children: fields } });
    this.#out.set(0, 0);
    throwErrorData(
      duckdb().schemaFromArrow(this.#connection, schema.address, this.#out.address),
      `columns of types ${types.map(typeName).join(", ")}`,
    );
    return this.#out.get(0);
  }

  #makeRoom(): void {
    if (this.#conversions.size < MOST_REMEMBERED) return;
    for (const [key, conversion] of this.#conversions) {
      if (conversion.users > 0) continue;
      destroyHandle(duckdb().destroyArrowSchema, conversion.handle);
      this.#conversions.delete(key);
      return;
    }
  }
}

/** The ArrowSchema of a struct and of everything inside it. */
class SchemaIn {
  readonly #cells: Cells;
  readonly #texts: { readonly cell: number; readonly text: string }[] = [];
  // Keeps the texts alive as long as DuckDB may read them.
  readonly #memory: ReturnType<typeof pin>;

  constructor(field: Field) {
    this.#cells = new Cells(countNodes(field) * (SCHEMA.size + 1));
    this.#place(field, { next: 0 });
    const encoded = this.#texts.map(({ text }) => Buffer.from(`${text}\0`));
    this.#memory = pin(encoded.reduce((sum, bytes) => sum + bytes.length, 0));
    const all = new Uint8Array(this.#memory.buffer);
    let at = 0;
    for (const [index, bytes] of encoded.entries()) {
      all.set(bytes, at);
      this.#cells.set(this.#texts[index]?.cell ?? 0, this.#memory.address + at);
      at += bytes.length;
    }
  }

  get address(): number {
    return this.#cells.address;
  }

  #place(field: Field, room: { next: number }): number {
    const cells = this.#cells;
    const cell = room.next;
    const fields = childFields(field.type);
    const pointers = cell + SCHEMA.size;
    room.next += SCHEMA.size + fields.length;
    this.#texts.push({ cell: cell + SCHEMA.format, text: formatOf(field.type) });
    this.#texts.push({ cell: cell + SCHEMA.name, text: cName(field.name) });
    cells.set(cell + SCHEMA.flags, ARROW_FLAG_NULLABLE);
    cells.set(cell + SCHEMA.childCount, fields.length);
    cells.set(cell + SCHEMA.children, cells.at(pointers));
    cells.set(cell + SCHEMA.release, harmlessRelease());
    for (const [index, child] of fields.entries()) cells.set(pointers + index, cells.at(this.#place(child, room)));
    return cell;
  }
}

function countNodes(field: Field): number {
  return childFields(field.type).reduce((sum, child) => sum + countNodes(child), 1);
}

function cName(name: string): string {
  if (!name.includes("\0")) return name;
  throw new KernelError(
    `The name ${JSON.stringify(name)} contains a zero character, which is not allowed in names.`,
    "Arrow",
  );
}

/** The type in the spelling of the Arrow C data interface. */
function formatOf(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "n";
    case "bool":
      return "b";
    case "int": {
      const letter = { 8: "c", 16: "s", 32: "i", 64: "l" }[type.bits];
      return type.signed ? letter : letter.toUpperCase();
    }
    case "float":
      return { 16: "e", 32: "f", 64: "g" }[type.bits];
    case "decimal":
      return `d:${type.precision},${type.scale}`;
    case "utf8":
      return type.large ? "U" : "u";
    case "binary":
      return type.large ? "Z" : "z";
    case "fixedBinary":
      return `w:${type.width}`;
    case "date":
      return type.unit === "day" ? "tdD" : "tdm";
    case "time":
      return `tt${UNITS[type.unit]}`;
    case "timestamp":
      return `ts${UNITS[type.unit]}:${type.timezone ?? ""}`;
    case "duration":
      return `tD${UNITS[type.unit]}`;
    case "interval":
      return { yearMonth: "tiM", dayTime: "tiD", monthDayNano: "tin" }[type.unit];
    case "list":
      return type.large ? "+L" : "+l";
    case "fixedList":
      return `+w:${type.size}`;
    case "struct":
      return "+s";
    case "map":
      return "+m";
    case "dictionary":
      throw new KernelError("Dictionaries are decoded before they are handed over.", "Internal");
  }
}

const UNITS = { s: "s", ms: "m", us: "u", ns: "n" } as const;
