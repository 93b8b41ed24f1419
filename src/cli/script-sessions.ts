/**
 * The sessions of a script that `spillway run` started: the addresses of their dashboards, and when the sessions are
 * gone.
 */

import type { Milliseconds } from "../protocol/index.ts";
import { type KnownSession, listSessions } from "../sessions/index.ts";

const LOOK: Milliseconds = 200;
/** Time for a supervisor to end its workers and then itself. */
const PATIENCE: Milliseconds = 15_000;

/** A session's name contains the pid of its program. */
function sessionsOf(pid: number): readonly KnownSession[] {
  return listSessions().filter(({ name }) => name.split("-")[1] === String(pid));
}

/** Reports the address of each dashboard once. The returned function stops that. */
export function tellDashboards(pid: number, tell: (address: string) => void): () => void {
  const told = new Set<string>();
  const timer = setInterval(() => {
    for (const { name, dashboard } of sessionsOf(pid)) {
      if (dashboard === null || told.has(name)) continue;
      told.add(name);
      tell(dashboard);
    }
  }, LOOK);
  return () => clearInterval(timer);
}

/** Resolves once all sessions of the program are gone. The supervisor of a killed program cleans up first. */
export async function sessionsGone(pid: number): Promise<void> {
  for (let waited = 0; waited < PATIENCE; waited += LOOK) {
    if (!sessionsOf(pid).some(({ status }) => status === "running")) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK));
  }
}
