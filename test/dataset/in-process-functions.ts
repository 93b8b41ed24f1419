/** How the engine without processes calls a user's function: on all rows of a step at once. */
import {
  blockBytes,
  columnsToBatch,
  type RecordBatch,
  RowBuilder,
  readBlock,
  sliceBatch,
  toColumns,
  toRows,
} from "../../src/arrow/index.ts";
import type { Step } from "../../src/protocol/index.ts";

export async function functionStep(
  step: Extract<Step, { kind: "function" }>,
  call: (value: unknown) => unknown,
  whole: RecordBatch,
): Promise<RecordBatch[]> {
  if (step.form === "mapGroups") return groupsStep(step, call, whole);
  if (step.form === "mapBatches") {
    const out: RecordBatch[] = [];
    for (let at = 0; at < whole.length; at += step.options.batchSize) {
      const piece = sliceBatch(whole, at, at + step.options.batchSize);
      const rows = step.options.batchFormat === "rows";
      const given = rows ? toRows(piece, step.options) : toColumns(piece, step.options);
      const made = await call(given);
      out.push(rows ? fromRows(made as unknown[]) : columnsToBatch(made as Parameters<typeof columnsToBatch>[0]));
    }
    return out;
  }
  const kept: unknown[] = [];
  for (const row of toRows(whole, step.options)) {
    const made = await call(row);
    if (step.form === "map") kept.push(made);
    else if (step.form === "flatMap") kept.push(...(made as Iterable<unknown>));
    else if (made === true) kept.push(row);
  }
  return kept.length === 0 ? [] : [fromRows(kept)];
}

/** The rows come sorted by their keys. */
async function groupsStep(
  step: Extract<Step, { kind: "function" }>,
  call: (value: unknown) => unknown,
  whole: RecordBatch,
): Promise<RecordBatch[]> {
  const rows = toRows(whole, step.options) as Record<string, unknown>[];
  const made: unknown[] = [];
  const keyOf = (row: Record<string, unknown> | undefined) =>
    JSON.stringify((step.options.keys ?? []).map((name) => row?.[name] ?? null));
  for (let at = 0; at < rows.length; ) {
    let end = at + 1;
    while (end < rows.length && keyOf(rows[end]) === keyOf(rows[at])) end++;
    const given =
      step.options.batchFormat === "rows" ? rows.slice(at, end) : toColumns(sliceBatch(whole, at, end), step.options);
    const out = await call(given);
    if (Array.isArray(out)) made.push(...out);
    else if (step.options.batchFormat === "rows") made.push(out);
    else made.push(...toRows(columnsToBatch(out as Parameters<typeof columnsToBatch>[0]), step.options));
    at = end;
  }
  return made.length === 0 ? [] : [fromRows(made)];
}

function fromRows(rows: readonly unknown[]): RecordBatch {
  const builder = new RowBuilder();
  for (const row of rows) builder.append(row);
  return readBlock(blockBytes(builder.finish()));
}
