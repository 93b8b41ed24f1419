/**
 * Where a user's sessions are in a local directory: `spillway-<uid>`, which they share. Where that name is taken
 * (somebody else was first, it is a link, others may write to it), a session has a directory of its own beside it, with
 * a name that nobody can guess.
 */
import { randomBytes } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { whyTaken } from "../files/index.ts";
import type { Notice } from "../protocol/index.ts";
import { sessionsDirectory } from "./options.ts";

export interface Place {
  /** The directory that sessions are in. */
  readonly root: string;
  /** What the user should know about it. */
  readonly notice: Notice | null;
}

const OWN_SUFFIX = /^-[0-9a-f]{8}$/;
const WRITABLE_BY_ALL = 0o002;
const STICKY = 0o1000;

/** Looked at, not made: who makes it looks again. */
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

/** Those that sessions of this user may have, here now. */
export function rootsIn(localDirectory: string): readonly string[] {
  try {
    return readdirSync(localDirectory)
      .map((name) => join(localDirectory, name))
      .filter(isRoot);
  } catch {
    // It is gone, or cannot be listed: nothing to be found.
    return [];
  }
}

/** By its name alone: whether it is ours is to be looked at. */
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
