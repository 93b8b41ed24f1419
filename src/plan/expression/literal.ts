/**
 * JavaScript values as SQL literals. A number with a fraction is a DOUBLE, as in JavaScript, and not SQL's DECIMAL. In
 * a comparison it stays a plain decimal, so that a filter on a DECIMAL column can still use the reader's statistics.
 */
import { halfPair, quoteText } from "../../arrow/index.ts";
import { OptionError } from "../../errors/index.ts";
import { isDate, isMap, isPlainObject, isTypedArray, isUint8Array } from "../../realm/index.ts";

export type Literal =
  | null
  | boolean
  | number
  | bigint
  | string
  | Date
  | Uint8Array
  | readonly Literal[]
  | ReadonlyMap<Literal, Literal>
  | { readonly [field: string]: Literal };

/** `compared`: the literal is an operand of `=`, `<`, `IN` and the like. */
export function literalSql(value: Literal, compared = false): string {
  if (value === null) return "NULL";
  switch (typeof value) {
    case "boolean":
      return value ? "TRUE" : "FALSE";
    case "number":
      return numberSql(value, compared);
    case "bigint":
      return bigintSql(value);
    case "string":
      return quoteText(value);
    default:
      return objectSql(value, compared);
  }
}

function numberSql(value: number, compared: boolean): string {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return value < 0 ? `(${value})` : String(value);
  const text = String(value);
  if (compared && /^-?[0-9]{1,9}\.[0-9]{1,6}$/.test(text)) return value < 0 ? `(${text})` : text;
  const spelled = Object.is(value, -0) ? "-0.0" : text;
  return `CAST('${spelled}' AS DOUBLE)`;
}

function bigintSql(value: bigint): string {
  if (BigInt.asIntN(64, value) === value) return value < 0n ? `CAST('${value}' AS BIGINT)` : String(value);
  return `CAST('${value}' AS HUGEINT)`;
}

function objectSql(
  value: Date | Uint8Array | readonly Literal[] | ReadonlyMap<Literal, Literal> | { readonly [field: string]: Literal },
  compared: boolean,
): string {
  if (isDate(value)) return dateSql(value, compared);
  if (isUint8Array(value)) return blobSql(value);
  if (isList(value)) return `[${value.map((item) => literalSql(item)).join(", ")}]`;
  if (isLiteralMap(value)) {
    const entries = [...value].map(([key, item]) => `${literalSql(key)}: ${literalSql(item)}`);
    return `MAP {${entries.join(", ")}}`;
  }
  const fields = Object.entries(value).map(([name, item]) => `${quoteText(name)}: ${literalSql(item)}`);
  if (fields.length === 0) throw new OptionError("An empty object cannot be used in SQL: a struct needs a field.");
  return `{${fields.join(", ")}}`;
}

function dateSql(value: Date, compared: boolean): string {
  if (Number.isNaN(value.getTime())) throw new OptionError("An invalid Date cannot be used in SQL.");
  const text = value.toISOString();
  const [day = "", time = ""] = text.split("T");
  if (!/^[0-9]{4}-/.test(day)) throw new OptionError(`The date ${text} is outside the years 0 to 9999.`);
  // In a comparison, midnight is a DATE: it compares with DATE and TIMESTAMP columns without casting them.
  if (compared && time === "00:00:00.000Z") return `DATE '${day}'`;
  return `TIMESTAMP '${day} ${time.slice(0, -1)}'`;
}

function blobSql(value: Uint8Array): string {
  const digits = Array.from(value, (byte) => `\\x${byte.toString(16).padStart(2, "0").toUpperCase()}`);
  return `CAST('${digits.join("")}' AS BLOB)`;
}

function isList(value: object): value is readonly Literal[] {
  return Array.isArray(value);
}

function isLiteralMap(value: object): value is ReadonlyMap<Literal, Literal> {
  return isMap(value);
}

/** Throws if a value (or one inside it) has no SQL literal. */
export function checkLiteral(value: unknown, where: string): Literal {
  if (value === null || value === undefined) return null;
  switch (typeof value) {
    case "boolean":
    case "number":
    case "bigint":
      return value;
    case "string":
      return checkText(value, where);
    case "object":
      return checkObject(value, where);
    default:
      throw new OptionError(`${where}: a ${typeof value} cannot be used in SQL.`);
  }
}

/** Throws if SQL cannot contain the text. */
export function checkText(text: string, where: string): string {
  const half = halfPair(text);
  if (half !== null) throw new OptionError(`${where}: ${JSON.stringify(text)} has ${half}.`);
  return text;
}

function checkObject(value: object, where: string): Literal {
  if (isDate(value) || isUint8Array(value)) return value;
  if (isTypedArray(value)) return Array.from<number | bigint>(value);
  if (Array.isArray(value)) return value.map((item) => checkLiteral(item, where));
  if (isMap(value)) {
    return new Map([...value].map(([key, item]) => [checkLiteral(key, where), checkLiteral(item, where)]));
  }
  if (!isPlainObject(value)) {
    const name = value.constructor?.name ?? "an object";
    throw new OptionError(`${where}: a value of class ${name} cannot be used in SQL. Give plain data.`);
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [checkText(name, where), checkLiteral(item, where)]),
  );
}
