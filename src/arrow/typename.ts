/**
 * Types in SQL's spelling (DuckDB's names), for messages, casts, and schemas shown to users. parseTypeName in
 * typename-parser.ts parses them.
 */
import type { DataType, TimeUnit } from "./types.ts";

const INTEGERS = { 8: "TINYINT", 16: "SMALLINT", 32: "INTEGER", 64: "BIGINT" } as const;
const TIMESTAMPS: Record<TimeUnit, string> = {
  s: "TIMESTAMP_S",
  ms: "TIMESTAMP_MS",
  us: "TIMESTAMP",
  ns: "TIMESTAMP_NS",
};

export function typeName(type: DataType): string {
  switch (type.kind) {
    case "null":
      return "NULL";
    case "bool":
      return "BOOLEAN";
    case "int":
      return type.signed ? INTEGERS[type.bits] : `U${INTEGERS[type.bits]}`;
    case "float":
      return { 16: "FLOAT16", 32: "FLOAT", 64: "DOUBLE" }[type.bits];
    case "decimal":
      return `DECIMAL(${type.precision},${type.scale})`;
    case "utf8":
      return "VARCHAR";
    case "binary":
    case "fixedBinary":
      return "BLOB";
    case "date":
      return "DATE";
    case "time":
      return type.unit === "ns" ? "TIME_NS" : "TIME";
    case "timestamp":
      return type.timezone === null ? TIMESTAMPS[type.unit] : "TIMESTAMP WITH TIME ZONE";
    case "duration":
    case "interval":
      return "INTERVAL";
    case "list":
      return `${typeName(type.child.type)}[]`;
    case "fixedList":
      return `${typeName(type.child.type)}[${type.size}]`;
    case "struct":
      return `STRUCT(${type.children.map((field) => `${quoted(field.name)} ${typeName(field.type)}`).join(", ")})`;
    case "map":
      return `MAP(${typeName(type.key.type)}, ${typeName(type.value.type)})`;
    case "dictionary":
      return typeName(type.value);
  }
}

function quoted(name: string): string {
  return /^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
