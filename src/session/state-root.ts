/**
 * Where logs stay: `spillway` in the user's state directory, closed to others. A link is allowed there: the user may
 * keep logs on another disk. If the directory belongs to another user (several users with one HOME), `spillway-<uid>`
 * beside it is used.
 */
import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { OptionError } from "../errors/index.ts";
import { isOurs } from "../files/index.ts";

interface StatePlace {
  readonly root: string;
  /** A notice for the user about the place. */
  readonly notice: string | null;
}

const FOR_OTHERS = 0o077;

/** `~/.local/state/spillway`: the logs of the last sessions. */
export function stateRoot(): string {
  return join(process.env.XDG_STATE_HOME ?? join(homedir(), ".local", "state"), "spillway");
}

export function statePlace(): StatePlace {
  const usual = stateRoot();
  if (isUsable(usual)) return { root: usual, notice: null };
  const root = `${usual}-${process.geteuid?.() ?? 0}`;
  if (!isUsable(root)) {
    throw new OptionError(
      `session: the directories for logs, ${usual} and ${root}, belong to another user. Set XDG_STATE_HOME to a directory of your own.`,
    );
  }
  return {
    root,
    notice:
      `${usual} belongs to another user: the logs of this session are in ${root} instead. ` +
      "Set XDG_STATE_HOME to a directory of your own.",
  };
}

/** Whether it is ours or does not exist yet. Access of others to it is removed. */
function isUsable(path: string): boolean {
  let fd: number;
  try {
    if (!isOurs(lstatSync(path))) return false;
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    // Missing, a dangling link or a file: the code that makes directories in it reports that.
    return true;
  }
  try {
    const stats = fstatSync(fd);
    if (!isOurs(stats)) return false;
    if ((stats.mode & FOR_OTHERS) !== 0) fchmodSync(fd, 0o700);
    return true;
  } finally {
    closeSync(fd);
  }
}
