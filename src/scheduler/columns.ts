/**
 * Whether blocks that meet in one place (an operator's input, the job's output) have the same columns. The order does
 * not matter, types are the reader's affair. Only here, because only here the blocks of all tasks and of all sides of a
 * union come by.
 */
import { RowShapeError } from "../errors/index.ts";

/** The columns of the first block that came, and the operator it came from. */
export interface SeenColumns {
  readonly names: readonly string[];
  readonly from: string;
}

/** What is wrong with a block that came after `first`, or null. `place` names where they meet. */
export function differingColumns(first: SeenColumns, next: SeenColumns, place: string): RowShapeError | null {
  if (first.names === next.names) return null;
  if (first.names.length === next.names.length && first.names.every((name, i) => next.names[i] === name)) return null;
  const extra = next.names.find((name) => !first.names.includes(name));
  const missing = first.names.find((name) => !next.names.includes(name));
  const column = extra ?? missing;
  if (column === undefined) return null;
  const [having, lacking] = extra === undefined ? [first, next] : [next, first];
  const remedy =
    first.from === next.from
      ? "Return the same columns for every row, with null where there is no value."
      : "Use select, drop or rename to make them the same.";
  return new RowShapeError(
    `${place}: the columns differ: "${column}" is in rows of ${having.from} (${listed(having)}) and not in ${
      first.from === next.from ? "others of it" : `those of ${lacking.from}`
    } (${listed(lacking)}). ${remedy}`,
    column,
  );
}

function listed({ names }: SeenColumns): string {
  const shown = names.slice(0, 12).join(", ");
  return names.length > 12 ? `${shown} and ${names.length - 12} more` : shown;
}
