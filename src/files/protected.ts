/** Directories that are never overwritten, whatever is in them: a mistake there costs the most. */
import { readFileSync, realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { sep } from "node:path";

export interface Surroundings {
  readonly workingDirectory: string;
  /** Of the user. */
  readonly homes: readonly string[];
  /** Of everybody that the machine knows. */
  readonly otherHomes: readonly string[];
}

/** What a directory (resolved: absolute, without links) is, if it is one of these or holds one; else null. */
export function whyProtected(directory: string, around: Surroundings = surroundings()): string | null {
  if (directory === sep) return "it is the root directory";
  const own = [...around.homes, ...around.otherHomes].find((home) => home === directory);
  if (own !== undefined) return "it is a home directory";
  if (directory === around.workingDirectory) return "it is the working directory";
  const holds = (path: string) => path.startsWith(directory + sep);
  if (around.homes.some(holds)) return "your home directory is in it";
  if (holds(around.workingDirectory)) return "the working directory is in it";
  return null;
}

function surroundings(): Surroundings {
  return {
    workingDirectory: resolved(process.cwd()),
    homes: [homedir(), passwordEntryHome()].flatMap((home) => (home === null ? [] : [resolved(home)])),
    otherHomes: homesOfMachine(),
  };
}

/** What HOME says may be another directory than the one that the system knows. */
function passwordEntryHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    // A container's user without an entry.
    return null;
  }
}

function homesOfMachine(): readonly string[] {
  try {
    const lines = readFileSync("/etc/passwd", "utf8").split("\n");
    return lines.map((line) => line.split(":")[5] ?? "").filter((home) => home.startsWith(sep));
  } catch {
    return [];
  }
}

function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
