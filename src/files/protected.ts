/** Directories that are never overwritten: a mistake there costs the most. */
import { readFileSync, realpathSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { sep } from "node:path";

interface Surroundings {
  readonly workingDirectory: string;
  /** Home directories of the user. */
  readonly homes: readonly string[];
  /** Home directories of all users that the machine knows. */
  readonly otherHomes: readonly string[];
}

/** Why a directory (absolute, without links) is protected: it is one of these, or contains one; else null. */
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

/** HOME may differ from the home directory that the system knows. */
function passwordEntryHome(): string | null {
  try {
    return userInfo().homedir;
  } catch {
    // The user of a container may have no entry.
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
