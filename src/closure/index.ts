/** Moves functions between processes: captured in the program, revived in a worker. */
export { type CaptureOptions, captureFunction } from "./capture.ts";
export type { PassedColumns } from "./passed-shape.ts";
export { reviveFunction } from "./revive.ts";
export { STAYS, type Stays } from "./stays.ts";
