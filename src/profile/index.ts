/**
 * Heap profiles: requesting, writing, reading and drawing them. Workers load the sampling code only when they need it.
 */
export { fileName, listProfiles } from "./files.ts";
export { type FlameProfile, flameProfile } from "./flame.ts";
export { flamegraph, flameHtml } from "./flame-html.ts";
export type { ProfileFile, ProfileNode } from "./format.ts";
export {
  demandExpression,
  type HeapProfile,
  profileHeap,
  setWorkerProfiler,
  type WorkerProfiler,
} from "./profile-heap.ts";
export type { Recorder, RecorderModule, RecorderPlace, Recording } from "./recorder.ts";
