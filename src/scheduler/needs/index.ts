export { learn, roomForTasks } from "./learned.ts";
export {
  callsAtOnce,
  isOfTheMachine,
  isOfTheWorker,
  NO_NEED,
  nextNeed,
  type Shortage,
  stricter,
} from "./need.ts";
