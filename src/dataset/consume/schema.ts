/** The columns and their types: by metadata where no function is involved, else by the first block that comes. */
import { type Column, isDescribable } from "../../plan/index.ts";
import { describeWith, resolved } from "../run.ts";
import { columnsOfBatch } from "../sources/blocks.ts";
import { blocksOf, type Run } from "./blocks.ts";

export interface DatasetSchema {
  readonly columns: readonly Column[];
  readonly names: readonly string[];
  /** `price: DOUBLE` a line. */
  toString(): string;
}

export async function schemaOf(run: Run): Promise<DatasetSchema> {
  const plan = await resolved(run.engine, run.plan);
  if (plan.kind === "scan" && plan.open?.columns) return datasetSchema(plan.open.columns);
  if (isDescribable(plan)) return datasetSchema(await describeWith(run.engine)(plan));
  for await (const block of blocksOf(run, 1)) {
    try {
      return datasetSchema(columnsOfBatch(block.read()));
    } finally {
      block.release();
    }
  }
  return datasetSchema([]);
}

function datasetSchema(columns: readonly Column[]): DatasetSchema {
  return {
    columns,
    names: columns.map(({ name }) => name),
    toString: () => columns.map(({ name, type }) => `${name}: ${type}`).join("\n"),
  };
}
