/**
 * The events of a session: recorded, kept, sent to observers, and turned into a state. src/protocol defines the events.
 */
export { apply } from "./apply.ts";
export { caughtUp } from "./caught-up.ts";
export { hasEnded, hasEvents } from "./ended.ts";
export { assertFormat, isReadable } from "./format.ts";
export { jobStats, withStats } from "./job-stats.ts";
export { type Lane, Lanes } from "./lanes.ts";
export { type Following, follow, observe, type WatchHandlers } from "./observe.ts";
export { Observer, type ObserverMessage, type ToObserver } from "./observing.ts";
export { type FileRecord, readRecords, readSession } from "./read.ts";
export { EventRecorder } from "./recorder.ts";
export { sharesOf } from "./shares.ts";
export {
  type BlockView,
  emptyState,
  type JobView,
  type OperatorTotals,
  operatorOf,
  type SessionState,
  snapshotOf,
  stateOf,
  type TaskView,
  type WorkerView,
} from "./state.ts";
export { type Outcome, type TaskSpan, TaskSpans } from "./task-spans.ts";
