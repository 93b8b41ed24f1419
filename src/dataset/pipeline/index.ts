/** Pipelines: datasets read window by window, in one or more epochs. */
export { DatasetPipeline } from "./pipeline.ts";
export { repeated, whole, windowed } from "./recipe.ts";
export type { WindowOptions } from "./window-size.ts";
