/**
 * SQL that converts values of one type to another without losing anything. A value that the other type cannot hold ends
 * the query with a `Misfit`, which the worker turns into an error with its file.
 */
import { quoteText } from "../../arrow/index.ts";
import { MISFIT, type Misfit } from "../../csv/index.ts";
import { valueSql } from "./csv-types.ts";

export interface CastColumn {
  readonly operator: string;
  readonly name: string;
  /** The type in the file. */
  readonly own: string;
  /** The type that is read. */
  readonly type: string;
  /** The user declared the type; otherwise it is a type that is common to all files. */
  readonly declared: boolean;
}

const NO_FORMATS = { dateFormat: null, timestampFormat: null, decimal: null };

/** Whether some values of `own` cannot be converted to `type` without loss. */
export function canLose({ own, type, declared }: CastColumn): boolean {
  if (own === type || type === "VARCHAR" || own === '"NULL"') return false;
  // For a list of another length the cast itself fails.
  if (type.replace(/\[\d+\]$/, "[]") === own) return false;
  // A declared floating point type stores the nearest number.
  if (declared && isFloat(type) && !isText(own)) return false;
  return !(WIDER[own]?.includes(type) ?? false);
}

/** `value` is SQL of the file's own type, `file` SQL for the file's path. */
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

/** For each type in files, the types that hold all of its values. */
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
