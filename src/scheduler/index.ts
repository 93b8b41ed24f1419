export { Scheduler } from "./core/index.ts";
export { deathDetails, exitTypeOf, oomCause } from "./oom/index.ts";
export {
  CANCEL_GRACE,
  type Command,
  type Event,
  type FileOutput,
  type JobMessage,
  type Scene,
  type SchedulerOptions,
  type TaskMessage,
  type WorkerEnd,
} from "./state/index.ts";
