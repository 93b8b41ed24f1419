/**
 * Where a user's sessions are in a local directory: `spillway-<uid>`, which they share. If that name is taken (another
 * user made it, it is a link, others may write to it), a session makes its own directory beside it, with a name that
 * cannot be guessed.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { whyTaken } from "../files/index.ts";
import type { Notice } from "../protocol/index.ts";
import { sessionsDirectory } from "./options.ts";

export interface Place {
  /** The directory that holds sessions. */
  readonly root: string;
  /** What the user should know about it. */
  readonly notice: Notice | null;
}

const OWN_SUFFIX = /^-[0-9a-f]{8}$/;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/** Only examines the place; the code that makes the directory checks again. */
export function placeIn(localDirectory: string): Place {
  const usual = sessionsDirectory(localDirectory);
  const why = whyTaken(usual);
  if (why === null) return { root: usual, notice: exposed(localDirectory) };
  const root = `${usual}-${randomBytes(4).toString("hex")}`;
  return {
    root,
    notice: { kind: "placeTaken", usual, why, used: root },
  };
}

/** The directories here that may hold sessions of this user. */
export function rootsIn(localDirectory: string): readonly string[] {
  try {
    return readdirSync(localDirectory)
      .map((name) => join(localDirectory, name))
      .filter(isRoot);
  } catch {
    // It is gone, or cannot be listed.
    return [];
  }
}

/** Checks only the name, not the owner. */
export function isRoot(path: string): boolean {
  const usual = basename(sessionsDirectory(dirname(path)));
  const name = basename(path);
  return name === usual || (name.startsWith(usual) && OWN_SUFFIX.test(name.slice(usual.length)));
}

/** Descriptors keep what is found and removed right, but not the paths that the kernel and sockets are given. */
function exposed(localDirectory: string): Notice | null {
  const mode = statSync(localDirectory, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & WRITABLE_BY_ALL) === 0 || (mode & STICKY) !== 0) return null;
  return { kind: "placeExposed", directory: localDirectory };
}
