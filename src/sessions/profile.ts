/** Makes a heap profile of a worker of a running session. */
import { join } from "node:path";
import { PROFILES } from "../protocol/index.ts";
import type { KnownSession } from "./known.ts";
import { openSession } from "./open.ts";

/** Resolves to the profile's path. */
export async function profileWorker(session: KnownSession, worker: number, seconds: number): Promise<string> {
  const opened = await openSession(session);
  try {
    return join(session.directory, PROFILES, await opened.profile(worker, seconds));
  } finally {
    opened.close();
  }
}
