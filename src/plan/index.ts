export { columnType } from "./column-type.ts";
export { columnsOf } from "./columns.ts";
export { type Describe, isDescribable } from "./describable.ts";
export { planLines } from "./describe.ts";
export { type Examine, examined, expressionsOf } from "./examined.ts";
export * from "./expression/index.ts";
export { KeptAnswers } from "./kept-answers.ts";
export { type AggregateNode, aggregate } from "./nodes/aggregate.ts";
export { type DistinctNode, distinct } from "./nodes/distinct.ts";
export { drop } from "./nodes/drop.ts";
export { dropNull } from "./nodes/drop-null.ts";
export { explode } from "./nodes/explode.ts";
export { fillNull } from "./nodes/fill-null.ts";
export { filter } from "./nodes/filter.ts";
export { type FunctionNode, functionLabel, functionNode } from "./nodes/function.ts";
export { type JoinKind, type JoinNode, join } from "./nodes/join.ts";
export { type LimitNode, limit } from "./nodes/limit.ts";
export { type ProjectNode, project } from "./nodes/project.ts";
export { rename } from "./nodes/rename.ts";
export { type RepartitionNode, repartition } from "./nodes/repartition.ts";
export { type SampleNode, sample } from "./nodes/sample.ts";
export { type ScanNode, scan } from "./nodes/scan.ts";
export { type ShuffleNode, shuffle } from "./nodes/shuffle.ts";
export { type SortNode, sort } from "./nodes/sort.ts";
export { type UnionNode, union } from "./nodes/union.ts";
export { type WindowNode, window } from "./nodes/window.ts";
export { type ZipNode, zip } from "./nodes/zip.ts";
export { optimise } from "./optimise.ts";
export { isOrdered } from "./ordered.ts";
export { commonPartition, seesRowOrder } from "./partitions.ts";
export { inputsOf, type Plan, rewriteUp, someNode } from "./plan.ts";
export { resolve } from "./resolve.ts";
export { forItsRows } from "./rules/index.ts";
export {
  type Column,
  type NoRows,
  nothingSkipped,
  type OpenSource,
  type RowSample,
  type ScanPart,
  type ScanRequest,
  type ScanSplits,
  type Source,
  type SourceCall,
  type SourceCut,
  type WholeScan,
  whateverItTakes,
} from "./source.ts";
