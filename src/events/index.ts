/**
 * The events of a session: recorded, kept, sent to observers, and made a state again. What they are is in src/protocol.
 */
export { apply } from "./apply.ts";
export { observe, type WatchHandlers, type Watching } from "./observe.ts";
export { Observer, type ObserverMessage, type ToObserver } from "./observing.ts";
export { type FileRecord, type ReadSession, readRecords, readSession } from "./read.ts";
export { EventRecorder } from "./recorder.ts";
export { EVENTS_FILE } from "./segments.ts";
export {
  type BlockView,
  emptyState,
  type JobView,
  type OperatorTotals,
  type SessionSnapshot,
  type SessionState,
  snapshotOf,
  stateOf,
  type TaskView,
  type WorkerView,
} from "./state.ts";
export type { Bucket, Timeline } from "./timeline.ts";
