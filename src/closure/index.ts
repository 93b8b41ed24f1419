/** Functions travel: captured in the program, revived in a worker. */
export { type CapturedFunction, type CaptureOptions, captureFunction } from "./capture.ts";
export type { PassedColumns } from "./passed-shape.ts";
export { type RevivedFunction, reviveFunction } from "./revive.ts";
