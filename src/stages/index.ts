export { buildStages, type SliceStage, type Stage, type Stages, type TaskStage } from "./build.ts";
export { stageLines } from "./explain.ts";
export { type JobContext, jobSpec } from "./job.ts";
export { describeSql } from "./sql/describe.ts";
export { placeSampleSql } from "./sql/select.ts";
