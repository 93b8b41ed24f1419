/**
 * Whether blocks that meet in one place (an operator's input, the job's output) have the same columns, of types that
 * can stand in one column: numbers widen among numbers, where rows meet in a table, and nulls fit everything. The order
 * does not matter. Checked here, because the blocks of all tasks and of all sides of a union meet only here.
 */
import { RowShapeError } from "../../errors/index.ts";
import { familyText, meeting, type TypeFamily } from "../../protocol/index.ts";

export interface BlockColumns {
  readonly names: readonly string[];
  /** Null where the worker did not say. */
  readonly types: readonly TypeFamily[] | null;
}

/** What is known of the columns of the blocks that came so far, and the operator that the first one came from. */
export interface SeenColumns {
  readonly columns: BlockColumns;
  readonly from: string;
}

export function areSame(a: BlockColumns, b: BlockColumns): boolean {
  if (a.names.length !== b.names.length || a.names.some((name, i) => b.names[i] !== name)) return false;
  return a.types === b.types || JSON.stringify(a.types) === JSON.stringify(b.types);
}

/**
 * What is known after a block that came after `first`, or what is wrong with it. `place` names where the blocks meet.
 */
export function meetingColumns(first: SeenColumns, next: SeenColumns, place: string): SeenColumns | RowShapeError {
  const differing = differingNames(first, next, place);
  if (differing !== null) return differing;
  const { names, types } = first.columns;
  if (types === null || next.columns.types === null) return first;
  const known = new Map(next.columns.names.map((name, i) => [name, next.columns.types?.[i]]));
  const met: TypeFamily[] = [];
  for (const [i, name] of names.entries()) {
    const [type = "?", other = "?"] = [types[i], known.get(name)];
    const both = meeting(type, other);
    if (both === null) return differingTypes(name, familyText(type), familyText(other), place);
    met.push(both);
  }
  return { columns: { names, types: met }, from: first.from };
}

function differingTypes(column: string, type: string, other: string, place: string): RowShapeError {
  const isOurs = column.startsWith("__spillway_");
  const what = isOurs ? ownText(column) : `column "${column}"`;
  return new RowShapeError(
    `${place}: ${what} has ${type} in some rows and ${other} in others, and no type holds both. Return one type always, or declare it in the function's schema: a column that is declared is checked row by row.`,
    isOurs ? null : column,
  );
}

/** Columns between the two halves of an aggregate (src/stages/aggregates/) have internal names. */
function ownText(column: string): string {
  const key = /^__spillway_k(\d+)$/.exec(column)?.[1];
  return key === undefined ? "what an aggregate is computed from" : `key ${Number(key) + 1}`;
}

function differingNames(first: SeenColumns, next: SeenColumns, place: string): RowShapeError | null {
  const [had, came] = [first.columns.names, next.columns.names];
  if (had === came || (had.length === came.length && had.every((name, i) => came[i] === name))) return null;
  const extra = came.find((name) => !had.includes(name));
  const missing = had.find((name) => !came.includes(name));
  const column = extra ?? missing;
  if (column === undefined) return null;
  const [having, lacking] = extra === undefined ? [first, next] : [next, first];
  const remedy =
    first.from === next.from
      ? "Return the same columns for every row, with null where there is no value."
      : "Use select, drop or rename to make them the same.";
  return new RowShapeError(
    `${place}: the columns differ: "${column}" is in rows of ${having.from} (${listed(having)}) and not in ${
      first.from === next.from ? "other rows of it" : `those of ${lacking.from}`
    } (${listed(lacking)}). ${remedy}`,
    column,
  );
}

function listed({ columns: { names } }: SeenColumns): string {
  const shown = names.slice(0, 12).join(", ");
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}
