/**
 * The types of a result: for each type of DuckDB, the Arrow type that arrives, or the SQL cast to a type that Spillway
 * has. `duckdb_to_arrow_schema` is slower and does not tell what would be lost (bits and big numbers arrive as raw
 * bytes, a time with a zone without its zone).
 */
import { type DataType, type Field, quoteIdentifier } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { textAt } from "../native/index.ts";
import { destroyHandle } from "./cells.ts";
import { type DuckDB, duckdb } from "./library.ts";

export interface ResultType {
  readonly type: DataType;
  /** The type after the cast, in SQL's spelling. */
  readonly sql: string;
  readonly cast: boolean;
}

const exact = (type: DataType, sql: string): ResultType => ({ type, sql, cast: false });
const castTo = (type: DataType, sql: string): ResultType => ({ type, sql, cast: true });
const int = (bits: 8 | 16 | 32 | 64, signed: boolean): DataType => ({ kind: "int", bits, signed });
const text = { kind: "utf8", large: false } as const;
const wide: DataType = { kind: "decimal", precision: 38, scale: 0, bits: 128 };

/** By DuckDB's type number. */
const SIMPLE: ReadonlyMap<number, ResultType> = new Map([
  [1, exact({ kind: "bool" }, "BOOLEAN")],
  [2, exact(int(8, true), "TINYINT")],
  [3, exact(int(16, true), "SMALLINT")],
  [4, exact(int(32, true), "INTEGER")],
  [5, exact(int(64, true), "BIGINT")],
  [6, exact(int(8, false), "UTINYINT")],
  [7, exact(int(16, false), "USMALLINT")],
  [8, exact(int(32, false), "UINTEGER")],
  [9, exact(int(64, false), "UBIGINT")],
  [10, exact({ kind: "float", bits: 32 }, "FLOAT")],
  [11, exact({ kind: "float", bits: 64 }, "DOUBLE")],
  [12, exact({ kind: "timestamp", unit: "us", timezone: null }, "TIMESTAMP")],
  [13, exact({ kind: "date", unit: "day" }, "DATE")],
  [14, exact({ kind: "time", unit: "us" }, "TIME")],
  [15, exact({ kind: "interval", unit: "monthDayNano" }, "INTERVAL")],
  // sum(BIGINT) has this type. The conversion to Arrow makes it decimal(38,0).
  [16, exact(wide, "HUGEINT")],
  [17, exact(text, "VARCHAR")],
  [18, exact({ kind: "binary", large: false }, "BLOB")],
  [20, exact({ kind: "timestamp", unit: "s", timezone: null }, "TIMESTAMP_S")],
  [21, exact({ kind: "timestamp", unit: "ms", timezone: null }, "TIMESTAMP_MS")],
  [22, exact({ kind: "timestamp", unit: "ns", timezone: null }, "TIMESTAMP_NS")],
  [23, castTo(text, "VARCHAR")], // ENUM
  [27, exact(text, "UUID")],
  [28, castTo(text, "VARCHAR")], // UNION
  [29, castTo(text, "VARCHAR")], // BIT
  [30, castTo(text, "VARCHAR")], // TIME WITH TIME ZONE
  [31, exact({ kind: "timestamp", unit: "us", timezone: "UTC" }, "TIMESTAMP WITH TIME ZONE")],
  [32, castTo(wide, "DECIMAL(38,0)")], // UHUGEINT: past 38 digits is an error, not a wrong number
  [35, castTo(text, "VARCHAR")], // BIGNUM
  [36, exact({ kind: "null" }, '"NULL"')],
  [39, exact({ kind: "time", unit: "ns" }, "TIME_NS")],
  [40, castTo(text, "VARCHAR")], // GEOMETRY, as WKT
]);

const DECIMAL = 19;
const LIST = 24;
const STRUCT = 25;
const MAP = 26;
const ARRAY = 33;
const VARIANT = 41;

const item = (type: DataType): Field => ({ name: "item", type, nullable: true });

/** Reads a type that the caller owns and keeps. */
export function resultType(handle: number, column: string): ResultType {
  const api = duckdb();
  const id = api.typeId(handle);
  const simple = SIMPLE.get(id);
  if (simple !== undefined) return simple;
  switch (id) {
    case DECIMAL: {
      const precision = api.decimalWidth(handle);
      const scale = api.decimalScale(handle);
      return exact({ kind: "decimal", precision, scale, bits: 128 }, `DECIMAL(${precision},${scale})`);
    }
    case LIST: {
      const child = owned(api, api.listChild(handle), column);
      return { ...child, type: { kind: "list", child: item(child.type), large: false }, sql: `${child.sql}[]` };
    }
    case ARRAY: {
      const child = owned(api, api.arrayChild(handle), column);
      const size = api.arraySize(handle);
      return { ...child, type: { kind: "fixedList", child: item(child.type), size }, sql: `${child.sql}[${size}]` };
    }
    case MAP: {
      const key = owned(api, api.mapKey(handle), column);
      const value = owned(api, api.mapValue(handle), column);
      const fields = {
        key: { name: "key", type: key.type, nullable: false },
        value: { name: "value", type: value.type, nullable: true },
      };
      return { type: { kind: "map", ...fields }, sql: `MAP(${key.sql}, ${value.sql})`, cast: key.cast || value.cast };
    }
    case STRUCT:
      return structType(api, handle, column);
    default:
      throw new KernelError(
        `Column "${column}" has the type ${id === VARIANT ? "VARIANT" : `number ${id} of the kernel`}, which does not cross into Arrow. Cast it in the query, for example CAST("${column}" AS VARCHAR).`,
        "Not implemented",
      );
  }
}

function structType(api: DuckDB, handle: number, column: string): ResultType {
  const children: Field[] = [];
  const parts: string[] = [];
  let cast = false;
  for (let index = 0; index < api.structCount(handle); index++) {
    const at = api.structName(handle, index);
    const name = textAt(at);
    api.free(at);
    const child = owned(api, api.structChild(handle, index), column);
    children.push({ name, type: child.type, nullable: true });
    parts.push(`${quoteIdentifier(name)} ${child.sql}`);
    cast ||= child.cast;
  }
  return { type: { kind: "struct", children }, sql: `STRUCT(${parts.join(", ")})`, cast };
}

function owned(api: DuckDB, handle: number, column: string): ResultType {
  try {
    return resultType(handle, column);
  } finally {
    destroyHandle(api.destroyType, handle);
  }
}
