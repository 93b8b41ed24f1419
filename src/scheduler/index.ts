export { deathDetails, peakOf } from "./deaths.ts";
export {
  CANCEL_GRACE,
  type Command,
  type Event,
  type FileOutput,
  type JobMessage,
  PROGRESS_INTERVAL,
  type TaskMessage,
  type WorkerEnd,
} from "./events.ts";
export { Scheduler, type SchedulerOptions } from "./scheduler.ts";
