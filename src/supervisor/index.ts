/**
 * What a program needs to start a supervisor and to find its files. The supervisor itself is a process of its own,
 * which begins in main.ts.
 */
export {
  checkSocketPath,
  type Ready,
  type SupervisorOptions,
  sessionDirectory,
  socketPath,
} from "./options.ts";
export { MARK, SUPERVISOR_MARK } from "./process-tree.ts";
export { SUPERVISOR_LOG } from "./worker-log.ts";
