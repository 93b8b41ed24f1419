export { deathDetails, exitTypeOf, peakOf } from "./deaths.ts";
export {
  CANCEL_GRACE,
  type Command,
  type Event,
  type FileOutput,
  type JobMessage,
  PROGRESS_INTERVAL,
  type Scene,
  type TaskMessage,
  type WorkerEnd,
} from "./events.ts";
export { oomCause } from "./oom.ts";
export { Scheduler, type SchedulerOptions } from "./scheduler.ts";
