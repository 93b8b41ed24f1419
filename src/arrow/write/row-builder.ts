/**
 * The rows that a function returned, as a batch. The first row decides the columns and, unless declared, their types. A
 * column of nulls stays open until a value decides its type, even across batches.
 */
import { RowShapeError } from "../../errors/index.ts";
import { assertNames } from "../column-names.ts";
import { typeEquals } from "../schema.ts";
import type { DataType, Field, RecordBatch, Schema } from "../types.ts";
import { emptyBatch } from "../vector.ts";
import { inferType, isPlain } from "./infer.ts";
import { describe, placeOf } from "./misfit.ts";
import { type RecordWriter, recordWriter } from "./record-writer.ts";
import { sinkFor } from "./sink-for.ts";

export type DeclaredTypes = ReadonlyMap<string, DataType>;

const NOTHING: DeclaredTypes = new Map();

export class RowBuilder {
  private names: readonly string[] = [];
  private writer: RecordWriter | null = null;
  private schema: Schema | null = null;
  private length = 0;

  constructor(
    private readonly declared: DeclaredTypes = NOTHING,
    /** Types of columns that the function returns unchanged; declared types take precedence. */
    private readonly passed: DeclaredTypes = NOTHING,
  ) {}

  get rows(): number {
    return this.length;
  }

  /** Bytes of the batch so far. Walks all columns: ask every few hundred rows, not for each row. */
  get byteLength(): number {
    const { length } = this;
    if (length === 0) return 0;
    return this.writer?.sinks.reduce((sum, sink) => sum + sink.byteLength(length), 0) ?? 0;
  }

  /** Takes one row. If it throws, the rows before it are kept. */
  append(row: unknown): void {
    if (typeof row !== "object" || row === null || Array.isArray(row)) throw noRow(row);
    this.writer ??= this.begin(row);
    try {
      this.writer.write(this.length, row);
    } catch (error) {
      this.truncate(this.length);
      throw error;
    }
    this.length++;
  }

  /**
   * Forgets all rows except the first ones. If none is left and no batch was finished before, the columns are
   * forgotten, too.
   */
  truncate(rows: number): void {
    this.length = rows;
    if (rows === 0 && this.schema === null) this.writer = null;
  }

  /** The rows appended since the last call. The buffers are valid until the next append. */
  finish(): RecordBatch {
    const { writer, length } = this;
    this.length = 0;
    if (writer === null) return emptyBatch({ fields: [...this.declared].map(([name, type]) => field(name, type)) });
    const columns = writer.sinks.map((sink) => sink.finish(length));
    const schema = this.schemaOf(columns.map((column) => column.type));
    return { schema, length, columns };
  }

  private begin(row: object): RecordWriter {
    if (!isPlain(row)) throw noRow(row);
    this.names = Object.keys(row);
    assertNames(this.names);
    if (this.names.length === 0) throw new RowShapeError("A row without any column.", null);
    const missing = [...this.declared.keys()].find((name) => !this.names.includes(name));
    if (missing !== undefined) {
      throw new RowShapeError(
        `Column "${missing}" is declared, but the row has only: ${this.names.join(", ")}.`,
        missing,
      );
    }
    const { declared, passed } = this;
    const types = this.names.map((name) => declared.get(name) ?? passed.get(name) ?? inferColumn(name, row[name]));
    return recordWriter(
      this.names,
      (index, replace) => {
        const column = this.names[index] ?? "";
        return sinkFor(types[index] ?? { kind: "null" }, placeOf(column, declared, passed), replace);
      },
      "A row",
    );
  }

  /** The same object as long as no open column gets a type. */
  private schemaOf(types: readonly DataType[]): Schema {
    const known = this.schema?.fields;
    if (this.schema !== null && types.every((type, index) => known?.[index] && typeEquals(type, known[index].type))) {
      return this.schema;
    }
    this.schema = { fields: types.map((type, index) => field(this.names[index] ?? "", type)) };
    return this.schema;
  }
}

function field(name: string, type: DataType): Field {
  return { name, type, nullable: true };
}

function inferColumn(name: string, value: unknown): DataType {
  const type = inferType(value);
  if (type === null) {
    throw new RowShapeError(
      `Column "${name}" was given ${describe(value)}, which a column cannot hold. ` +
        "Columns hold numbers, bigints, strings, booleans, Dates, bytes, arrays, plain objects, Maps and null.",
      name,
    );
  }
  return type;
}

function noRow(value: unknown): RowShapeError {
  return new RowShapeError(
    `A row is an object of columns, as in { id: 1, name: "a" }; this is ${nameOf(value)}.`,
    null,
  );
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  return describe(value);
}
