export { type SupervisorOptions, sessionDirectory, sessionsDirectory, socketPath } from "./options.ts";
