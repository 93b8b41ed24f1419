export { areSame, type BlockColumns, meetingColumns } from "./columns.ts";
export { DevicePool } from "./devices.ts";
export { OutputEstimate } from "./estimate.ts";
export {
  BESIDE_GRACE,
  CANCEL_GRACE,
  type Command,
  DISK_GRACE,
  DISK_RETRY,
  type Event,
  type FileOutput,
  type JobMessage,
  PROGRESS_INTERVAL,
  QUIET_PROGRESS_INTERVAL,
  READING_GRACE,
  type Scene,
  SLOT_GRACE,
  STORE_GRACE,
  type TaskMessage,
  type WorkerEnd,
  YIELD_GRACE,
} from "./events.ts";
export { Fifo } from "./fifo.ts";
export { newFlowState, type TaskInput } from "./flow-state.ts";
export { isPaused, outputOf } from "./job-output.ts";
export { type JobState, newJob } from "./job-state.ts";
export { newMemoryState, type ParkedFor, type Trimming, type TrimReason, type WorkerHistory } from "./memory-state.ts";
export type { Shortage } from "./oom-state.ts";
export { newOperator, type OperatorState, type Way } from "./operator-state.ts";
export { inputEnded, isBundle, isWide, waitsForWide } from "./operators.ts";
export { inputsOf, orderedOperators } from "./order.ts";
export { newPhasesState } from "./phases-state.ts";
export {
  type Edge,
  type Fed,
  type FedPiece,
  type Feed,
  type Flow,
  filesRead,
  type Piece,
  type TaskSource,
} from "./pieces.ts";
export { newPlacementState } from "./placement-state.ts";
export { Resources } from "./resources.ts";
export { newResourcesState } from "./resources-state.ts";
export { type Birth, newStartsState } from "./starts-state.ts";
export { nextOrder, type SchedulerOptions, type State, send, tell, tellNews } from "./state.ts";
export { newStoreState } from "./store-state.ts";
export { type EventStream, note, passNotice, tellNotice, watch } from "./stream.ts";
export { newTask, type RepairOf, type TaskState } from "./task-state.ts";
export { type Inspection, newWorker, type WorkerState } from "./worker-state.ts";
