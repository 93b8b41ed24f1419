/** Checks column names and expressions against the columns of a resolved plan, if these are known. */
import { nameFault } from "../arrow/index.ts";
import { OptionError, UnknownColumnError } from "../errors/index.ts";
import { assertOwnNames } from "../protocol/index.ts";
import { nearest } from "../units/index.ts";
import { columnsOf } from "./columns.ts";
import { type Expression, namedColumns } from "./expression/index.ts";
import { checkRowByRow } from "./one-row.ts";
import type { Plan } from "./plan.ts";

/** The available columns; null if they are not known. */
export function checkNames(input: Plan, names: Iterable<string>, operator: string): readonly string[] | null {
  const available = columnsOf(input);
  if (available !== null) checkAmong(names, available, operator);
  return available;
}

export function checkAmong(names: Iterable<string>, available: readonly string[], operator: string): void {
  const known = new Set(available);
  for (const name of names) {
    if (!known.has(name)) throw new UnknownColumnError(name, available, operator, nearest(name, available));
  }
}

/** Checks expressions that look at one row at a time. */
export function checkExpressions(input: Plan, expressions: readonly Expression[], operator: string): void {
  for (const expression of expressions) {
    checkRowByRow(expression, operator);
    checkNames(input, namedColumns(expression), operator);
  }
}

/** Checks names that an operator makes, or that a source has. */
export function checkMadeNames(names: Iterable<string>, operator: string): void {
  const fault = nameFault(names);
  if (fault !== null) throw new OptionError(`${operator}: ${fault.reason}`);
}

/** Checks that all columns have different names. */
export function checkOwnNames(names: readonly string[] | null, operator: string): void {
  if (names !== null) assertOwnNames(names, operator);
}
