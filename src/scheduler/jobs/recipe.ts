/** What is told of an operator when its job starts: enough for a page about it, nothing that grows with the data. */
import type { Operator, OperatorRecipe, TaskOperator } from "../../protocol/index.ts";
import { inputsOf } from "../state/index.ts";

/** Characters of one SQL text: a list of files or of columns can be far longer than anybody reads. */
const MOST_SQL = 4_000;

export function recipeOf(spec: Operator): OperatorRecipe | null {
  if (spec.kind !== "tasks") return null;
  const { input, steps, request, concurrency, maxRetries, maxOomRetries, skipped, sink } = spec;
  const functions = steps.filter((step) => step.kind === "function");
  const batches = functions.filter(({ form }) => form === "mapBatches").map(({ options }) => options.batchSize);
  return {
    input: input.kind === "fed" ? input.gather.kind : input.kind,
    flowsFrom: inputsOf(spec).flatMap(({ id, isBroadcast }) => (isBroadcast ? [] : [id])),
    functions: functions.map(({ operator }) => operator),
    sql: sqlOf(spec).map(shortened),
    files: filesOf(spec),
    request,
    concurrency: concurrency.max,
    batchSize: batches.length === 0 ? null : Math.max(...batches),
    maxRetries,
    maxOomRetries,
    skipped,
    learned: spec.place === "wide" ? null : spec.learned,
    appetite: spec.appetite,
    sink: sink.kind,
  };
}

function sqlOf({ input, steps }: TaskOperator): readonly string[] {
  const first = input.kind === "splits" ? input.splits[0] : undefined;
  const read = first?.kind === "sql" ? [first.sql] : [];
  return [...read, ...steps.flatMap((step) => (step.kind === "sql" ? step.sql : []))];
}

function filesOf({ input }: TaskOperator): number {
  if (input.kind !== "splits") return 0;
  const files = new Set<string>();
  for (const split of input.splits) {
    if (split.kind !== "blocks") for (const file of split.files) files.add(file);
  }
  return files.size;
}

function shortened(sql: string): string {
  return sql.length <= MOST_SQL ? sql : `${sql.slice(0, MOST_SQL)} … (${sql.length - MOST_SQL} characters more)`;
}
