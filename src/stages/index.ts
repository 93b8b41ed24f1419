export { buildStages } from "./build.ts";
export { stageLines } from "./explain.ts";
export { type JobContext, jobSpec } from "./job.ts";
export type { Planning } from "./planning.ts";
export { describeSql } from "./sql/describe.ts";
export { placeSampleSql } from "./sql/select.ts";
export type { SliceStage, Stage, Stages, TaskStage } from "./stage.ts";
