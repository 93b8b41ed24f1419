/**
 * The columns and their types: from metadata if no function is involved, otherwise from the first block. If no block
 * comes, the source of the functions decides; a column of unknown type is then a column of nulls.
 */
import { type Column, isDescribable, type Plan } from "../../plan/index.ts";
import { likelyColumns } from "../../stages/index.ts";
import type { Engine } from "../engine.ts";
import { describeWith, resolved } from "../run.ts";
import { columnsOfBatch } from "../sources/blocks.ts";
import { blocksOf, type Run } from "./blocks.ts";

export interface DatasetSchema {
  readonly columns: readonly Column[];
  readonly names: readonly string[];
  /** One line a column: `price: DOUBLE`. */
  toString(): string;
}

export async function schemaOf(run: Run): Promise<DatasetSchema> {
  const plan = await resolved(run.engine, run.plan, run.cancellation);
  const known = await knownColumns(run.engine, plan);
  if (known !== null) return datasetSchema(known);
  for await (const block of blocksOf(run, 1)) {
    try {
      return datasetSchema(columnsOfBatch(block.read()));
    } finally {
      block.release();
    }
  }
  const likely = likelyColumns(plan) ?? new Map<string, string | null>();
  return datasetSchema([...likely].map(([name, type]) => ({ name, type: type ?? "NULL" })));
}

/** The columns as far as they are known without running the plan; null if only running it can tell. */
export async function columnsBefore({ engine, plan, cancellation }: Run): Promise<readonly Column[] | null> {
  return knownColumns(engine, await resolved(engine, plan, cancellation));
}

async function knownColumns(engine: Engine, plan: Plan): Promise<readonly Column[] | null> {
  if (plan.kind === "scan" && plan.open?.columns) return plan.open.columns;
  return isDescribable(plan) ? describeWith(engine)(plan) : null;
}

function datasetSchema(columns: readonly Column[]): DatasetSchema {
  return {
    columns,
    names: columns.map(({ name }) => name),
    toString: () => columns.map(({ name, type }) => `${name}: ${type}`).join("\n"),
  };
}
