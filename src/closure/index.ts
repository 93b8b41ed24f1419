/** Functions travel: captured in the program, revived in a worker. */
export { type CapturedFunction, type CaptureOptions, captureFunction } from "./capture.ts";
export type { PassedColumns, ReturnedNames } from "./passed-shape.ts";
export { type RevivedFunction, reviveFunction } from "./revive.ts";
export { STAYS, type Stays } from "./stays.ts";
