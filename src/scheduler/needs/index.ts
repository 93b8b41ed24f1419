export {
  batchTook,
  beginTrial,
  forgetAppetite,
  isOnTrial,
  isUnknown,
  stepTrials,
  taskTook,
  trialDeadline,
} from "./appetite.ts";
export { forgetAlone, kernelRanOut, learn, roomForTasks } from "./learned.ts";
export {
  callsAtOnce,
  isOfTheMachine,
  isOfTheWorker,
  NO_NEED,
  nextNeed,
  stricter,
} from "./need.ts";
