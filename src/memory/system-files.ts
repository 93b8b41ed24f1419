/**
 * The system's own files (/proc, control groups) as text. This is the seam at which tests supply files of their own. A
 * missing file is no error: processes end between two reads, and some systems have no /proc.
 */
import { closeSync, openSync, readdirSync, readSync } from "node:fs";

/** A file's text; null if there is no such file. */
export type ReadText = (path: string) => string | null;

export interface SystemFiles {
  readonly read: ReadText;
  /** Names in a directory; empty if there is no such directory. */
  readonly list: (path: string) => readonly string[];
  /** Names of the directories in it. */
  readonly listDirectories: (path: string) => readonly string[];
}

/**
 * Takes half of the time of `readFileSync`, which asks for the size first. A reading of one worker calls it a dozen
 * times.
 */
const buffer = Buffer.allocUnsafeSlow(64 << 10);

export const systemFiles: SystemFiles = {
  read(path) {
    try {
      const fd = openSync(path, "r");
      try {
        let text = "";
        for (;;) {
          const length = readSync(fd, buffer, 0, buffer.length, null);
          if (length === 0) return text;
          text += buffer.toString("latin1", 0, length);
        }
      } finally {
        closeSync(fd);
      }
    } catch {
      return null;
    }
  },
  list(path) {
    try {
      return readdirSync(path);
    } catch {
      return [];
    }
  },
  listDirectories(path) {
    try {
      return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
    } catch {
      return [];
    }
  },
};
