/**
 * The Arrow data model of this project: plain, immutable descriptions of types, and views of buffers. Not a general
 * Arrow library: users get copies of values, or a table of a full Arrow library.
 */

export type TimeUnit = "s" | "ms" | "us" | "ns";
export type IntType = { readonly kind: "int"; readonly bits: 8 | 16 | 32 | 64; readonly signed: boolean };

export type DataType =
  | { readonly kind: "null" }
  | { readonly kind: "bool" }
  | IntType
  | { readonly kind: "float"; readonly bits: 16 | 32 | 64 }
  | {
      readonly kind: "decimal";
      readonly precision: number;
      readonly scale: number;
      readonly bits: 32 | 64 | 128 | 256;
    }
  | { readonly kind: "utf8"; readonly large: boolean }
  | { readonly kind: "binary"; readonly large: boolean }
  | { readonly kind: "fixedBinary"; readonly width: number }
  | { readonly kind: "date"; readonly unit: "day" | "ms" }
  | { readonly kind: "time"; readonly unit: TimeUnit }
  | { readonly kind: "timestamp"; readonly unit: TimeUnit; readonly timezone: string | null }
  | { readonly kind: "duration"; readonly unit: TimeUnit }
  | { readonly kind: "interval"; readonly unit: "yearMonth" | "dayTime" | "monthDayNano" }
  | { readonly kind: "list"; readonly child: Field; readonly large: boolean }
  | { readonly kind: "fixedList"; readonly child: Field; readonly size: number }
  | { readonly kind: "struct"; readonly children: readonly Field[] }
  | { readonly kind: "map"; readonly key: Field; readonly value: Field }
  | { readonly kind: "dictionary"; readonly index: IntType; readonly value: DataType };

export interface Field {
  readonly name: string;
  readonly type: DataType;
  readonly nullable: boolean;
}

export interface Schema {
  readonly fields: readonly Field[];
}

/**
 * One column: views of Arrow buffers, in the order of the Arrow columnar format for its type, with the validity bitmap
 * first (null if there is none; the "null" type has no buffers at all). Variable-size types: [validity, offsets, data].
 * `offset` counts values into the buffers, as in the C data interface, and applies to struct children, too. The views
 * may be over JavaScript memory, the arena or kernel memory: the code that hands out a vector says how long it is
 * valid.
 */
export interface Vector {
  readonly type: DataType;
  readonly length: number;
  /** -1: not counted. */
  readonly nullCount: number;
  readonly offset: number;
  readonly buffers: readonly (Uint8Array | null)[];
  /** list, fixedList: one child; struct: one for each field; map: one struct of key and value. */
  readonly children: readonly Vector[];
  readonly dictionary: Vector | null;
}

export interface RecordBatch {
  readonly schema: Schema;
  readonly length: number;
  readonly columns: readonly Vector[];
}

/** How values are converted to JavaScript (A13). The first alternative of each is the default. */
export interface ValueOptions {
  /** int64 and uint64 as number (an error past 2^53) or as bigint. */
  readonly int64?: "number" | "bigint";
  /** decimal as number, or as its exact text. */
  readonly decimal?: "number" | "string";
  /** date and timestamp as Date, or as bigint in the column's own unit. */
  readonly timestamp?: "date" | "bigint";
}

export type Row = Record<string, unknown>;
export type ColumnValues =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array
  | readonly unknown[];
/** A batch as a function sees it: one array a column, all of the same length. */
export type Columns = Record<string, ColumnValues>;
