/**
 * Which rows of a partition a window looks at for each row: a number of rows before and after it, or a distance of the
 * key.
 */
import { OptionError } from "../../errors/index.ts";
import type { Frame, FrameBound } from "../../plan/index.ts";
import { nearest } from "../../units/index.ts";
import { checkKeys, describe } from "../options.ts";

const units = ["year", "month", "week", "day", "hour", "minute", "second", "millisecond"] as const;
export type FrameUnit = (typeof units)[number];

/**
 * A number of rows: negative before the row, positive after it, 0 for the row itself; "unbounded" for all rows on that
 * side.
 */
type RowsBound = number | "unbounded";
/** A distance from the row's key; for times by unit: `{ day: -6 }`. 0 means the row and all rows with the same key. */
type RangeBound = number | "unbounded" | { readonly [U in FrameUnit]?: number };

export type WindowFrame =
  /** `{ rows: [-2, 0] }`: this row and the two before it. `{ rows: ["unbounded", 0] }`: all rows up to this one. */
  | { readonly rows: readonly [from: RowsBound, to: RowsBound] }
  /**
   * `{ range: [-10, 10] }`: rows whose key is at most 10 away. `{ range: [{ day: -6 }, 0] }`: the rows of seven days.
   */
  | { readonly range: readonly [from: RangeBound, to: RangeBound] };

export function checkFrame(operator: string, frame: unknown, keys: number): Frame {
  const known = ["rows", "range"] as const;
  if (typeof frame !== "object" || frame === null) {
    throw new OptionError(
      `${operator}: frame is ${describe(frame)}; it must be { rows: [-2, 0] } or { range: [-10, 0] }.`,
    );
  }
  checkKeys(`${operator}: frame`, frame, known);
  const entries: readonly [string, unknown][] = Object.entries(frame);
  const [entry] = entries;
  const kind = known.find((each) => each === entry?.[0]);
  if (entry === undefined || kind === undefined || entries.length > 1) {
    throw new OptionError(`${operator}: frame must have either rows or range; it has ${entries.length} of them.`);
  }
  if (keys === 0) throw new OptionError(`${operator}: a frame needs an order. Give orderBy, too.`);
  const [from, to] = bounds(operator, kind, entry[1]);
  checkDirection(operator, kind, from, to);
  if (kind === "range" && keys > 1 && [from, to].some(isAway)) {
    throw new OptionError(
      `${operator}: a range measures the distance of one key, but orderBy has ${keys}. Use rows, or one key.`,
    );
  }
  return { kind, from, to };
}

function bounds(operator: string, kind: Frame["kind"], value: unknown): readonly [FrameBound, FrameBound] {
  if (!Array.isArray(value) || value.length !== 2) {
    throw new OptionError(
      `${operator}: ${kind} is ${describe(value)}; it must be two bounds: { ${kind}: ["unbounded", 0] }.`,
    );
  }
  const [from, to]: readonly unknown[] = value;
  return [bound(operator, kind, from), bound(operator, kind, to)];
}

function bound(operator: string, kind: Frame["kind"], value: unknown): FrameBound {
  if (value === "unbounded") return value;
  if (kind === "rows") {
    if (typeof value === "number" && Number.isSafeInteger(value)) return { offset: value, unit: null };
    throw new OptionError(
      `${operator}: a bound of rows is ${describe(value)}; it must be a whole number of rows, negative before this one, or "unbounded".`,
    );
  }
  if (typeof value === "number" && Number.isFinite(value)) return { offset: value, unit: null };
  if (typeof value === "object" && value !== null) return distance(operator, value);
  throw new OptionError(
    `${operator}: a bound of range is ${describe(value)}; it must be a number, a time such as { day: -6 }, or "unbounded".`,
  );
}

function distance(operator: string, value: object): FrameBound {
  const entries: readonly [string, unknown][] = Object.entries(value);
  const [[unit, offset] = ["", undefined]] = entries;
  if (entries.length !== 1) {
    throw new OptionError(`${operator}: a bound of range has ${entries.length} units of time; give one: { day: -6 }.`);
  }
  if (!units.some((known) => known === unit)) {
    const hint = nearest(unit, units);
    throw new OptionError(
      `${operator}: "${unit}" is not a unit of a range.${hint === null ? "" : ` Did you mean "${hint}"?`} Units: ${units.join(", ")}.`,
    );
  }
  if (typeof offset === "number" && Number.isSafeInteger(offset)) return { offset, unit };
  throw new OptionError(`${operator}: { ${unit} } of a range is ${describe(offset)}; it must be a whole number.`);
}

const isAway = (bound: FrameBound) => bound !== "unbounded" && bound.offset !== 0;

function checkDirection(operator: string, kind: string, from: FrameBound, to: FrameBound): void {
  if (from === "unbounded" || to === "unbounded") return;
  const sameUnit = from.unit === to.unit || from.offset === 0 || to.offset === 0;
  if (!sameUnit || from.offset <= to.offset) return;
  throw new OptionError(
    `${operator}: ${kind} goes from ${from.offset} to ${to.offset}; the first bound must not be after the second.`,
  );
}
