/**
 * The system's own files (/proc, control groups) as text: the seam at which tests put files of their own. What is not
 * there, or no longer, is no error: processes end between two looks, and not every system has /proc.
 */
import { closeSync, openSync, readdirSync, readSync } from "node:fs";

/** A file's text; null where there is none. */
export type ReadText = (path: string) => string | null;

export interface SystemFiles {
  readonly read: ReadText;
  /** Names in a directory; empty where there is none. */
  readonly list: (path: string) => readonly string[];
  /** Of the directories in it. */
  readonly listDirectories: (path: string) => readonly string[];
}

/**
 * Half of the time of `readFileSync`, which asks for the size first: it is called a dozen times for every look at a
 * worker.
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
