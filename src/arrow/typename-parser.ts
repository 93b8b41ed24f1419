/**
 * Parses SQL type names in declared schemas into Arrow types. Case is ignored; the usual aliases of the kernel's SQL
 * are known.
 */
import { OptionError } from "../errors/index.ts";
import type { DataType, Field } from "./types.ts";
import { halfPair } from "./well-formed.ts";

const int = (bits: 8 | 16 | 32 | 64, signed = true): DataType => ({ kind: "int", bits, signed });
const TEXT: DataType = { kind: "utf8", large: false };
const BYTES: DataType = { kind: "binary", large: false };
const timestamp = (unit: "s" | "ms" | "us" | "ns", timezone: string | null = null): DataType => ({
  kind: "timestamp",
  unit,
  timezone,
});
const decimal = (precision: number, scale: number): DataType => ({ kind: "decimal", precision, scale, bits: 128 });

const SIMPLE: ReadonlyMap<string, DataType> = new Map<string, DataType>([
  ["NULL", { kind: "null" }],
  ...["BOOLEAN", "BOOL", "LOGICAL"].map((name): [string, DataType] => [name, { kind: "bool" }]),
  ...["TINYINT", "INT1"].map((name): [string, DataType] => [name, int(8)]),
  ...["SMALLINT", "INT2", "SHORT", "INT16"].map((name): [string, DataType] => [name, int(16)]),
  ...["INTEGER", "INT", "INT4", "SIGNED", "INT32"].map((name): [string, DataType] => [name, int(32)]),
  ...["BIGINT", "INT8", "LONG", "INT64"].map((name): [string, DataType] => [name, int(64)]),
  ...["UTINYINT", "UINT8"].map((name): [string, DataType] => [name, int(8, false)]),
  ...["USMALLINT", "UINT16"].map((name): [string, DataType] => [name, int(16, false)]),
  ...["UINTEGER", "UINT32"].map((name): [string, DataType] => [name, int(32, false)]),
  ...["UBIGINT", "UINT64"].map((name): [string, DataType] => [name, int(64, false)]),
  ["HUGEINT", decimal(38, 0)],
  ["FLOAT16", { kind: "float", bits: 16 }],
  ...["FLOAT", "REAL", "FLOAT4"].map((name): [string, DataType] => [name, { kind: "float", bits: 32 }]),
  ...["DOUBLE", "FLOAT8", "DOUBLE PRECISION"].map((name): [string, DataType] => [name, { kind: "float", bits: 64 }]),
  ...["DECIMAL", "NUMERIC", "DEC"].map((name): [string, DataType] => [name, decimal(18, 3)]),
  ...["VARCHAR", "TEXT", "STRING", "CHAR", "BPCHAR"].map((name): [string, DataType] => [name, TEXT]),
  ...["BLOB", "BYTEA", "BINARY", "VARBINARY"].map((name): [string, DataType] => [name, BYTES]),
  ["DATE", { kind: "date", unit: "day" }],
  ...["TIME", "TIME WITHOUT TIME ZONE"].map((name): [string, DataType] => [name, { kind: "time", unit: "us" }]),
  ["TIME_NS", { kind: "time", unit: "ns" }],
  ...["TIMESTAMP", "DATETIME", "TIMESTAMP_US", "TIMESTAMP WITHOUT TIME ZONE"].map((name): [string, DataType] => [
    name,
    timestamp("us"),
  ]),
  ["TIMESTAMP_S", timestamp("s")],
  ["TIMESTAMP_MS", timestamp("ms")],
  ["TIMESTAMP_NS", timestamp("ns")],
  ...["TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE"].map((name): [string, DataType] => [name, timestamp("us", "UTC")]),
  ["INTERVAL", { kind: "interval", unit: "monthDayNano" }],
]);

const TOKEN = /\s*(?:"((?:[^"]|"")*)"|([A-Za-z_][A-Za-z0-9_]*)|(\d+)|([()[\],]))/y;

interface Token {
  readonly kind: "quoted" | "word" | "number" | "mark";
  readonly text: string;
}

function tokens(sql: string): Token[] {
  const found: Token[] = [];
  const text = sql.trimEnd();
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new OptionError(`"${sql}" is not a type name: cannot read "${text.slice(at)}".`);
    const [, quoted, word, number, mark] = match;
    if (quoted !== undefined) found.push({ kind: "quoted", text: quoted.replaceAll('""', '"') });
    else if (word !== undefined) found.push({ kind: "word", text: word });
    else if (number !== undefined) found.push({ kind: "number", text: number });
    else if (mark !== undefined) found.push({ kind: "mark", text: mark });
  }
  return found;
}

/** The type that a SQL type name means, such as `DECIMAL(12,2)` or `STRUCT(a INTEGER, b VARCHAR[])`. */
export function parseTypeName(sql: string): DataType {
  const half = halfPair(sql);
  if (half !== null) throw new OptionError(`The type name ${JSON.stringify(sql)} has ${half}.`);
  const input = tokens(sql);
  let at = 0;

  function fail(expected: string): never {
    const rest = input[at]?.text ?? "the end";
    throw new OptionError(`"${sql}" is not a type name: expected ${expected}, found ${rest}.`);
  }
  function accept(text: string): boolean {
    const token = input[at];
    const same = token !== undefined && token.kind !== "quoted" && token.text.toUpperCase() === text;
    if (same) at++;
    return same;
  }
  function expect(text: string): void {
    if (!accept(text)) fail(`"${text}"`);
  }
  function number(): number {
    const token = input[at];
    if (token?.kind !== "number") return fail("a number");
    at++;
    return Number(token.text);
  }
  function name(): string {
    const token = input[at];
    if (token === undefined || (token.kind !== "word" && token.kind !== "quoted")) return fail("a field name");
    at++;
    return token.text;
  }
  function structFields(): Field[] {
    const fields: Field[] = [];
    expect("(");
    do fields.push({ name: name(), type: type(), nullable: true });
    while (accept(","));
    expect(")");
    return fields;
  }
  function base(): DataType {
    const token = input[at];
    if (token?.kind !== "word") return fail("a type");
    at++;
    const word = token.text.toUpperCase();
    if (word === "STRUCT" || word === "ROW") return { kind: "struct", children: structFields() };
    if (word === "MAP") {
      expect("(");
      const key = type();
      expect(",");
      const value = type();
      expect(")");
      return {
        kind: "map",
        key: { name: "key", type: key, nullable: false },
        value: { name: "value", type: value, nullable: true },
      };
    }
    let spelled = word;
    if (word === "DOUBLE" && accept("PRECISION")) spelled = "DOUBLE PRECISION";
    if (word === "TIMESTAMP" || word === "TIME") {
      for (const zone of ["WITH", "WITHOUT"]) {
        if (!accept(zone)) continue;
        expect("TIME");
        expect("ZONE");
        spelled = `${word} ${zone} TIME ZONE`;
      }
    }
    const simple = SIMPLE.get(spelled);
    if (simple === undefined) {
      at--;
      return fail("a type (BIGINT, DOUBLE, VARCHAR, BOOLEAN, TIMESTAMP, DECIMAL(p,s), T[], STRUCT(…), MAP(…), …)");
    }
    if (simple.kind === "decimal" && word !== "HUGEINT" && accept("(")) {
      const precision = number();
      const scale = accept(",") ? number() : 0;
      expect(")");
      if (precision < 1 || precision > 38 || scale > precision) {
        throw new OptionError(`"${sql}": a decimal has a precision of 1 to 38 and a scale of at most the precision.`);
      }
      return decimal(precision, scale);
    }
    if (simple === TEXT && accept("(")) {
      number();
      expect(")");
    }
    return simple;
  }
  function type(): DataType {
    let found = base();
    while (accept("[")) {
      const child: Field = { name: "item", type: found, nullable: true };
      if (accept("]")) {
        found = { kind: "list", child, large: false };
      } else {
        found = { kind: "fixedList", child, size: number() };
        expect("]");
      }
    }
    return found;
  }

  const parsed = type();
  if (at < input.length) fail("the end");
  return parsed;
}
