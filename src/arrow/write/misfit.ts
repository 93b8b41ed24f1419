/** Errors about a value: which column it goes to, the column's type, and the value that came. */
import { RowShapeError, ValueError } from "../../errors/index.ts";
import { isDate, isMap, isPromise } from "../../realm/index.ts";
import { typeName } from "../typename.ts";
import type { DataType } from "../types.ts";
import { halfPair } from "../well-formed.ts";
import { inferType, isPlain } from "./infer.ts";

/** Where a value is going. */
export interface Place {
  /** The column's name, or a path for a value inside one: `tags[]`, `address.city`. */
  readonly column: string;
  /**
   * The type was given from outside: values are converted to it. A value that cannot be converted is a bad value, not a
   * bad shape.
   */
  readonly declared: boolean;
  /** The input column with the same type, because the function returns that column unchanged; otherwise null. */
  readonly passed: string | null;
}

export function placeOf(
  column: string,
  declared: ReadonlyMap<string, DataType>,
  passed: ReadonlyMap<string, DataType>,
): Place {
  if (declared.has(column)) return { column, declared: true, passed: null };
  const isPassed = passed.has(column);
  return { column, declared: isPassed, passed: isPassed ? column : null };
}

/** Throws: the value is not of the column's type and cannot be converted. */
export function misfit(place: Place, type: DataType, value: unknown): never {
  const { column, declared } = place;
  const came = describe(value);
  if (place.passed !== null) {
    throw new ValueError(
      `Column "${column}" is ${typeName(type)} in the function's input, and the function's source says that it is ` +
        `returned unchanged; ${came} cannot be converted to that. ${remedy(place.passed, column, value)}`,
      column,
    );
  }
  if (declared) {
    throw new ValueError(
      `Column "${column}" is declared ${typeName(type)}; ${came} cannot be converted to that.`,
      column,
    );
  }
  throw new RowShapeError(
    `Column "${column}" is ${typeName(type)} so far; a later row has ${came} there. ` +
      `Return one type always, or declare ${isInside(column) ? "the whole column in schema" : `it: schema: { "${column}": "…" }`}.`,
    column,
  );
}

/** A path such as `tags[]` or `address.city`. A column with such a name is treated as a path, too. */
function isInside(column: string): boolean {
  return /[.[]/.test(column);
}

/** Throws: the value is of the right kind, but the type cannot represent it. */
export function unfit(place: Place, type: DataType, value: unknown, why: string): never {
  const { column, passed } = place;
  const more = passed === null ? "" : ` ${remedy(passed, column, value)}`;
  throw new ValueError(`Column "${column}" (${typeName(type)}) cannot hold ${print(value)}: ${why}.${more}`, column);
}

/** Throws: encoding would change the text. */
export function halfText({ column }: Place, text: string): never {
  throw new ValueError(`Column "${column}" was given ${print(text)}, which has ${halfPair(text)}.`, column);
}

/** The error for one of many rows that came together; `what` describes them, such as "the result". */
export function inRow(thrown: unknown, row: number, what: string): unknown {
  const which = `Row ${row} of ${what}`;
  if (thrown instanceof RowShapeError) return new RowShapeError(`${which}: ${thrown.message}`, thrown.column);
  return thrown instanceof ValueError ? new ValueError(`${which}: ${thrown.message}`, thrown.column) : thrown;
}

/** For a column that the function computes, although its source looked as if it returned it unchanged. */
function remedy(passed: string, column: string, value: unknown): string {
  const type = passed === column ? inferType(value) : null;
  const name = type === null || type.kind === "null" ? "…" : typeName(type);
  return `If the function makes it anew, declare it: schema: { "${passed}": "${name}" }.`;
}

/** The SQL type and a short form of the value: `VARCHAR ("abc")`. */
export function describe(value: unknown, above: readonly unknown[] = []): string {
  if (value === undefined) return "undefined";
  if (isPromise(value)) return "a promise (is an await missing?)";
  const inferred = inferType(value);
  if (inferred === null) return typeof value === "object" ? unknownObject(value, above) : `a ${typeof value}`;
  return `${typeName(inferred)} (${print(value)})`;
}

/** Names the part that has no type, if the object itself is one that a column can hold. */
function unknownObject(value: object | null, above: readonly unknown[]): string {
  if (above.includes(value)) return "the object that it is in";
  const fields = isPlain(value) ? Object.entries(value) : [];
  const inside = fields.find(([, held]) => inferType(held) === null);
  if (inside !== undefined) {
    return `an object with ${JSON.stringify(inside[0])}: ${describe(inside[1], [...above, value])}`;
  }
  if (value === null || Object.keys(value).length > 0) return `an object of class ${constructorName(value)}`;
  const name = constructorName(value);
  if (name === "Object" || name === "value") return "an object without fields";
  return /^[AEIOU]/.test(name) ? `an ${name}` : `a ${name}`;
}

function constructorName(value: object | null): string {
  return value?.constructor?.name ?? "value";
}

const PRINT_LENGTH = 60;

function print(value: unknown): string {
  let text: string;
  if (typeof value === "bigint") text = `${value}n`;
  else if (typeof value === "string") text = JSON.stringify(value);
  else if (isDate(value)) text = Number.isNaN(value.getTime()) ? "Invalid Date" : value.toISOString();
  else if (isMap(value)) text = `a Map of ${value.size}`;
  else if (ArrayBuffer.isView(value)) text = `${constructorName(value)} of ${value.byteLength} bytes`;
  else if (typeof value === "object" && value !== null) {
    text = Array.isArray(value) ? `an array of ${value.length}` : `an object with ${Object.keys(value).join(", ")}`;
  } else text = String(value);
  return text.length > PRINT_LENGTH ? `${text.slice(0, PRINT_LENGTH)}…` : text;
}
