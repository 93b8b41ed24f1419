/** The blocks of a task as one table. */
import { concatBatches, type RecordBatch, schemaEquals } from "../arrow/index.ts";
import { RowShapeError } from "../errors/index.ts";

/**
 * Blocks of several tasks may have their columns in another order, or contain only nulls where others know a type. As a
 * table they need one schema. If they have it, nothing is copied; otherwise they are combined; null if types differ.
 */
export function ofOneSchema(batches: readonly RecordBatch[]): readonly RecordBatch[] | null {
  const [first] = batches;
  if (first === undefined || batches.every(({ schema }) => schemaEquals(schema, first.schema))) return batches;
  try {
    return [concatBatches(batches)];
  } catch (error) {
    if (error instanceof RowShapeError) return null;
    throw error;
  }
}
