/** Pipelines: datasets a window at a time, again and again. */
export { DatasetPipeline } from "./pipeline.ts";
export { repeated, whole, windowed } from "./recipe.ts";
export type { WindowOptions } from "./window-size.ts";
