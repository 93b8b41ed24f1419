/** The TypeScript type of a column from its SQL type, as in docs/values.md. */
import type { ValueOptions } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";

interface ColumnType {
  readonly name: string;
  readonly type: string;
}

/** Every value may be null: no file promises that a column has no nulls. */
export function rowInterface(name: string, columns: readonly ColumnType[], values: ValueOptions): string {
  const fields = columns.map((column) => {
    const type = valueType(column.type, values);
    return `  /** ${column.type.replaceAll("*/", "*\\/")} */\n  ${fieldName(column.name)}: ${nullable(type)};\n`;
  });
  return `export interface ${name} {\n${fields.join("")}}\n`;
}

const TOKEN = /\s*(?:"((?:[^"]|"")*)"|'(?:[^']|'')*'|([A-Za-z_][A-Za-z0-9_]*)|(\d+)|([()[\],]))/y;
const NUMBERS = new Set("TINYINT SMALLINT INTEGER UTINYINT USMALLINT UINTEGER FLOAT DOUBLE TIME TIME_NS".split(" "));
const DECIMALS = new Set(["DECIMAL", "HUGEINT", "UHUGEINT"]);
/** Includes types that leave the kernel as text. */
const TEXTS = new Set("VARCHAR ENUM UUID JSON BIT BIGNUM GEOMETRY UNION".split(" "));

export function valueType(sql: string, values: ValueOptions): string {
  return new Reader(sql, values).whole();
}

/** Reads `STRUCT(a INTEGER, "b c" VARCHAR[])` from left to right. */
class Reader {
  readonly #tokens: readonly RegExpExecArray[];
  #at = 0;

  constructor(
    private readonly sql: string,
    private readonly values: ValueOptions,
  ) {
    this.#tokens = tokensOf(sql);
  }

  whole(): string {
    const type = this.#type();
    if (this.#at < this.#tokens.length) throw this.#unreadable();
    return type;
  }

  #type(): string {
    let type = this.#base();
    while (this.#accept("[")) {
      if (!this.#accept("]")) {
        this.#at++;
        this.#expect("]");
      }
      type = `(${nullable(type)})[]`;
    }
    return type;
  }

  #base(): string {
    const word = this.#tokens[this.#at++]?.[2]?.toUpperCase();
    if (word === "STRUCT") return `{ ${this.#fields().join("; ")} }`;
    if (word === "MAP") {
      this.#expect("(");
      const key = this.#type();
      this.#expect(",");
      const value = this.#type();
      this.#expect(")");
      return `Map<${key}, ${nullable(value)}>`;
    }
    const zoned = this.#accept("WITH");
    if (zoned) this.#at += 2;
    if (this.#accept("(")) this.#skip();
    return this.#scalar(word ?? "", zoned);
  }

  #scalar(word: string, zoned: boolean): string {
    const { int64, decimal, timestamp } = this.values;
    if (word === "TIME" && zoned) return "string";
    if (word === "BOOLEAN") return "boolean";
    if (NUMBERS.has(word)) return "number";
    if (word === "BIGINT" || word === "UBIGINT") return int64 === "bigint" ? "bigint" : "number";
    if (DECIMALS.has(word)) return decimal === "string" ? "string" : "number";
    if (TEXTS.has(word)) return "string";
    if (word === "BLOB") return "Uint8Array";
    if (word === "DATE" || word.startsWith("TIMESTAMP")) return timestamp === "bigint" ? "bigint" : "Date";
    if (word === "INTERVAL")
      return `{ months: number; days: number; nanos: ${int64 === "bigint" ? "bigint" : "number"} }`;
    return word === "NULL" ? "null" : "unknown";
  }

  #fields(): string[] {
    const fields: string[] = [];
    this.#expect("(");
    do {
      const [, quoted, word] = this.#tokens[this.#at++] ?? [];
      fields.push(`${fieldName(quoted?.replaceAll('""', '"') ?? word ?? "")}: ${nullable(this.#type())}`);
    } while (this.#accept(","));
    this.#expect(")");
    return fields;
  }

  /** Skips to the end of the open parenthesis: the digits of a decimal, the values of an enum. */
  #skip(): void {
    for (let depth = 1; depth > 0 && this.#at < this.#tokens.length; ) {
      if (this.#accept("(")) depth++;
      else if (this.#accept(")")) depth--;
      else this.#at++;
    }
  }

  #accept(text: string): boolean {
    const [, , word, , mark] = this.#tokens[this.#at] ?? [];
    const same = (mark ?? word?.toUpperCase()) === text;
    if (same) this.#at++;
    return same;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw this.#unreadable();
  }

  #unreadable(): OptionError {
    return new OptionError(`types: the type ${this.sql} cannot be read.`);
  }
}

function tokensOf(sql: string): RegExpExecArray[] {
  const found: RegExpExecArray[] = [];
  TOKEN.lastIndex = 0;
  for (let token = TOKEN.exec(sql); token !== null; token = TOKEN.exec(sql)) found.push(token);
  return found;
}

function nullable(type: string): string {
  return type === "null" || type === "unknown" ? type : `${type} | null`;
}

function fieldName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}
