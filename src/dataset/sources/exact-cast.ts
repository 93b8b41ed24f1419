/**
 * SQL that makes values of one type of those of another and loses nothing: a value that the other type cannot hold ends
 * the query with a `Misfit`, which the worker turns into an error with its file.
 */
import { quoteText } from "../../arrow/index.ts";
import { MISFIT, type Misfit } from "../../csv/index.ts";
import { valueSql } from "./csv-types.ts";

export interface CastColumn {
  readonly operator: string;
  readonly name: string;
  /** The type that the file has. */
  readonly own: string;
  /** The type that is read. */
  readonly type: string;
  /** The user's type, not one that is common to all files. */
  readonly declared: boolean;
}

const NO_FORMATS = { dateFormat: null, timestampFormat: null, decimal: null };

/** Whether some values of the type cannot become the other, or not without loss. */
export function canLose({ own, type, declared }: CastColumn): boolean {
  if (own === type || type === "VARCHAR" || own === '"NULL"') return false;
  // Lists of another length end the cast by themselves.
  if (type.replace(/\[\d+\]$/, "[]") === own) return false;
  // The nearest number is what these are for, where the user says so.
  if (declared && isFloat(type) && !isText(own)) return false;
  return !(WIDER[own]?.includes(type) ?? false);
}

/** `value` is of the file's own type, `file` SQL for its path. */
export function exactCastSql(value: string, column: CastColumn, file: string): string {
  const { operator, name, own, type, declared } = column;
  if (!canLose(column)) return `CAST(${value} AS ${type})`;
  const misfit: Misfit = { operator, column: name, index: 0, type, declared, dialect: null };
  if (isText(own)) return valueSql(value, { name, type, declared: true }, NO_FORMATS, misfit, file);
  const cast = `TRY_CAST(${value} AS ${type})`;
  const facts = `to_json({'file': ${file}, 'text': left(CAST(${value} AS VARCHAR), 200)})`;
  const failure = `error(${quoteText(`${MISFIT}${JSON.stringify(misfit)}\n`)} || ${facts})`;
  return `CASE WHEN TRY_CAST(${cast} AS ${own}) = ${value} THEN ${cast} WHEN ${value} IS NULL THEN NULL ELSE ${failure} END`;
}

const isFloat = (type: string) => /^(DOUBLE|FLOAT|REAL)/i.test(type);
const isText = (type: string) => type === "VARCHAR";

/** For types that files have, those that hold all of their values. */
const WIDER: Readonly<Record<string, readonly string[]>> = {
  TINYINT: ["SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"],
  SMALLINT: ["INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"],
  INTEGER: ["BIGINT", "HUGEINT", "DOUBLE"],
  BIGINT: ["HUGEINT"],
  UTINYINT: ["USMALLINT", "UINTEGER", "UBIGINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"],
  USMALLINT: ["UINTEGER", "UBIGINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE"],
  UINTEGER: ["UBIGINT", "BIGINT", "HUGEINT", "DOUBLE"],
  UBIGINT: ["HUGEINT"],
  FLOAT: ["DOUBLE"],
  DATE: ["TIMESTAMP"],
};
