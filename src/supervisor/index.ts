/**
 * What a program needs to start a supervisor and to find its files. The supervisor is a process of its own; its program
 * is main.ts.
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
