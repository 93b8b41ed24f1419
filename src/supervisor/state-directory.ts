/**
 * Logs that stay after the session, one directory for each session. `latest` links to the newest. The last ten are
 * kept, and those of running sessions.
 */
import { readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { makeDirectory } from "../files/index.ts";
import { identify, isAlive } from "./process-identity.ts";
import { readOwner, writeOwner } from "./session-files.ts";

const KEPT_SESSIONS = 10;
const LATEST = "latest";

export function openStateDirectory(directory: string): void {
  makeDirectory(directory, 0o700);
  writeOwner(directory, identify(process.pid));
  const root = dirname(directory);
  const link = join(root, `${LATEST}.${process.pid}`);
  rmSync(link, { force: true });
  symlinkSync(basename(directory), link);
  renameSync(link, join(root, LATEST));
  // Session names begin with their time, so their order is chronological.
  const sessions = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== basename(directory))
    .map((entry) => entry.name)
    .sort();
  for (const old of sessions.slice(0, Math.max(0, sessions.length - KEPT_SESSIONS + 1))) {
    removeUnlessInUse(join(root, old));
  }
}

/** Another starting session may remove it, too. Errors are ignored: old logs must not prevent a start. */
function removeUnlessInUse(directory: string): void {
  try {
    if (!isInUse(directory)) rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    process.stderr.write(`The logs ${directory} could not be removed: ${(error as Error).message}\n`);
  }
}

function isInUse(directory: string): boolean {
  const owner = readOwner(directory);
  return owner !== null && isAlive(owner);
}
