/**
 * Names that columns cannot have. SQL treats names that differ only in case as equal, ends a name at a NUL, and has no
 * half characters. Some names are used for internal columns.
 */
import { RowShapeError } from "../errors/index.ts";
import type { Schema } from "./types.ts";
import { halfPair } from "./well-formed.ts";

/** Prefix of columns that exist only while an operator works. */
const RESERVED = "__spillway_";

/** A name as the kernel compares it: letters beyond ASCII keep their case. */
export function foldedName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

interface NameFault {
  readonly column: string;
  /** What is wrong and what to do, as the continuation of "operator: ". */
  readonly reason: string;
}

export function nameFault(names: Iterable<string>): NameFault | null {
  const seen = new Map<string, string>();
  for (const column of names) {
    const folded = foldedName(column);
    const other = seen.get(folded) ?? column;
    const reason = ownFault(column, folded) ?? (other === column ? null : likeAnother(other, column));
    if (reason !== null) return { column, reason };
    seen.set(folded, column);
  }
  return null;
}

/** Checks columns that SQL made, which may give two columns the same name. */
export function assertOwnColumns(operator: string, { fields }: Schema): void {
  const names = new Set(fields.map(({ name }) => name));
  if (names.size === fields.length) return;
  const twice = fields.find(({ name }, i) => fields.findIndex((other) => other.name === name) !== i)?.name ?? "";
  throw new RowShapeError(
    `${operator}: two columns would be called "${twice}". Drop or rename the other one first.`,
    twice,
  );
}

/** Checks names of data that comes from a program. */
export function assertNames(names: Iterable<string>): void {
  const fault = nameFault(names);
  if (fault === null) return;
  throw new RowShapeError(`${fault.reason.charAt(0).toUpperCase()}${fault.reason.slice(1)}`, fault.column);
}

function ownFault(name: string, folded: string): string | null {
  if (name === "") return "a column's name is empty. Give it a name where it is made.";
  if (name.includes("\0")) {
    return `the column ${JSON.stringify(name)} has a NUL character in its name. Give it another name where it is made.`;
  }
  const half = halfPair(name);
  if (half !== null) return `the name of the column ${JSON.stringify(name)} has ${half}.`;
  if (!folded.startsWith(RESERVED)) return null;
  return `the column "${name}" has a name that is reserved: "${RESERVED}" begins those of columns that operators work with. Rename it where it is made.`;
}

function likeAnother(name: string, other: string): string {
  return `the columns "${name}" and "${other}" differ only in case, and SQL takes them for one. Rename one of them where it is made.`;
}
