/**
 * What a program needs to start a supervisor, to find its files and to reach it. The supervisor is a process of its
 * own; its program is main.ts.
 */
export {
  checkSocketPath,
  type Ready,
  type SupervisorOptions,
  sessionDirectory,
  socketPath,
} from "./options.ts";
export { isAlive } from "./process-identity.ts";
export { MARK, SUPERVISOR_MARK } from "./process-tree.ts";
export { readAttachment, readOwner } from "./session-files.ts";
export { SUPERVISOR_LOG } from "./worker-log.ts";
