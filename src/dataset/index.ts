/** Datasets as users see them: sources, transformations, consumption, and what they need from a session. */

export type { BatchClass, BatchFormat, ClassOptions } from "./batch-functions.ts";
export type { IterBatchesOptions } from "./consume/batch-options.ts";
export type { CancelOptions } from "./consume/cancellation.ts";
export type { DatasetSchema } from "./consume/schema.ts";
export type { TrainTestOptions } from "./consume/split.ts";
export { Dataset, MaterializedDataset } from "./dataset.ts";
export type { Diagnosis } from "./diagnosis.ts";
export type { Engine, EngineSettings, FinishedJob, ReceivedBlock, RunningJob, RunOptions } from "./engine.ts";
export type { ExplainOptions } from "./explain.ts";
export {
  AggregateExpr,
  coalesce,
  col,
  concat,
  count,
  type DateUnit,
  denseRank,
  Expr,
  type FrameUnit,
  greatest,
  least,
  lit,
  ntile,
  type Operand,
  type OrderedOverOptions,
  type OverOptions,
  rank,
  rowNumber,
  sql,
  type WindowFrame,
  WindowFunction,
  when,
} from "./expressions/index.ts";
export type { BatchFunctionOptions, RowFunctionOptions } from "./functions.ts";
export { GroupedDataset, type GroupFunctionOptions } from "./grouped.ts";
export type { SortOptions } from "./order-options.ts";
export { DatasetPipeline, type WindowOptions } from "./pipeline/index.ts";
export type { RepartitionOptions, TopOptions } from "./relational-methods.ts";
export type { JoinOptions, ZipOptions } from "./relational-types.ts";
export type { AnyRow, BatchColumn, ColumnsBatch } from "./row-types.ts";
export type { SampleOptions } from "./sample-options.ts";
export { afterCollection } from "./sources/block-hold.ts";
export {
  type CsvOptions,
  fromArrow,
  fromItems,
  type InputOptions,
  type ItemsOptions,
  type JsonOptions,
  type Paths,
  type ReadOptions,
  range,
  readArrow,
  readBinary,
  readCsv,
  readJson,
  readParquet,
  readText,
  type TextOptions,
} from "./sources/index.ts";
export type { DatasetStats } from "./stats.ts";
export type { WriteOptions, WriteSummary } from "./write.ts";
