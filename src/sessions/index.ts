/**
 * The sessions of this user that left logs: which there are, how each of them stands, and what its events tell. A
 * running session is observed; one that has ended, or was killed, is read from its event file. Both give the same
 * state.
 */
export { findSession, type KnownSession, listSessions, sessionsRoot } from "./known.ts";
export { openSession } from "./open.ts";
export { profileWorker } from "./profile.ts";
