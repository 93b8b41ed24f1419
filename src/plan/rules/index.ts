export { dropNeedlessOrder } from "./drop-needless-order.ts";
export { dropNoOps } from "./drop-no-ops.ts";
export { fold, foldConstants } from "./fold-constants.ts";
export { mergeProjections } from "./merge-projections.ts";
export { nameDeepInputs } from "./name-deep-inputs.ts";
export { forItsRows, pruneColumns } from "./prune-columns.ts";
export { pushFilters } from "./push-filters.ts";
export { pushLimits } from "./push-limits.ts";
export { pushSamples } from "./push-samples.ts";
