export { areSame, type BlockColumns, meetingColumns } from "./columns.ts";
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
  READING_GRACE,
  type Scene,
  SLOT_GRACE,
  STORE_GRACE,
  type TaskMessage,
  type WorkerEnd,
  YIELD_GRACE,
} from "./events.ts";
export { failJob, isFailing, isGoingOn } from "./failing.ts";
export { Fifo } from "./fifo.ts";
export { isPaused, outputOf } from "./job-output.ts";
export { inputEnded, isBundle, isWide, waitsForWide } from "./operators.ts";
export { inputsOf, orderedOperators } from "./order.ts";
export { Resources } from "./resources.ts";
export {
  type Edge,
  type Fed,
  type FedPiece,
  type Feed,
  type Flow,
  type JobState,
  type OperatorState,
  type Piece,
  type SchedulerOptions,
  type State,
  send,
  type TaskState,
  tell,
  type WorkerState,
} from "./state.ts";
export { OperatorFigures } from "./stats.ts";
export { type EventStream, note, passNotice, tellNotice, watch } from "./stream.ts";
