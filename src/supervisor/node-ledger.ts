/**
 * The ledger in which the sessions of a user on one node find each other: a private directory with one file for each
 * session. A session holds a lock on its own file as long as it lives. A file that can be locked belongs to a session
 * that is gone, and is removed; that also holds between containers, which have other process numbers. The ledger is
 * read and written only with a lock on the directory. Nobody waits for that lock for long: a process that was stopped
 * may hold it.
 */
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isOurs, PrivateDirectory } from "../files/index.ts";
import { tryLock } from "../native/index.ts";
import { codeOf } from "../realm/index.ts";

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = constants;
/** Others have the lock for a millisecond; tries are a millisecond apart. */
const TRIES = 20;
const MOST_BYTES = 64 << 10;
const SUFFIX = ".json";

export function ledgerDirectory(): string {
  return join(tmpdir(), `spillway-node-${process.geteuid?.() ?? 0}`);
}

export class NodeLedger {
  readonly #directory: PrivateDirectory;
  /** The node's name, with which the names of its sessions' files begin. */
  readonly #node: string;
  readonly #file: string;
  readonly #own: number;

  private constructor(directory: PrivateDirectory, node: string, file: string, own: number) {
    this.#directory = directory;
    this.#node = node;
    this.#file = file;
    this.#own = own;
  }

  /** Throws NotPrivate if others could have written into the directory; null: the file system has no locks. */
  static open(path: string, node: string, session: string): NodeLedger | null {
    for (let tries = 0; tries < TRIES; tries++) {
      const directory = PrivateDirectory.make(path);
      const file = `${node}-${session}${SUFFIX}`;
      // The last session may be about to remove the directory: only with its lock is it there to stay.
      const opened = locked(directory, () => {
        if (directory.stats().nlink === 0) return null;
        const own = openSync(directory.at(file), O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW, 0o600);
        if (tryLock(own) === "locked") return new NodeLedger(directory, node, file, own);
        closeSync(own);
        unlinkSync(directory.at(file));
        return "noLocks";
      });
      if (opened instanceof NodeLedger) return opened;
      directory.close();
      if (opened === "noLocks") return null;
    }
    return null;
  }

  /**
   * Calls `turn` with what the other living sessions of the node have written, and writes what it returns. False:
   * another session has its turn.
   */
  turn(turn: (others: readonly unknown[]) => unknown): boolean {
    const done = locked(this.#directory, () => {
      this.#write(turn(this.#others()));
      return true;
    });
    return done === true;
  }

  /** The session ends. The last one removes the directory. */
  close(): void {
    const leave = () => {
      unlinkSync(this.#directory.at(this.#file));
      closeSync(this.#own);
      try {
        rmdirSync(this.#directory.path);
      } catch (error) {
        if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
      }
      return true;
    };
    // Without the lock the file is left; the next session sees that its owner is gone.
    if (locked(this.#directory, leave) === null) closeSync(this.#own);
    this.#directory.close();
  }

  #others(): readonly unknown[] {
    const others: unknown[] = [];
    for (const name of readdirSync(this.#directory.at(""))) {
      if (name === this.#file || !name.endsWith(SUFFIX)) continue;
      const text = livingText(this.#directory.at(name));
      if (text === null || !name.startsWith(`${this.#node}-`)) continue;
      try {
        others.push(JSON.parse(text));
      } catch {
        // A session that has not written yet, or whose disk was full.
      }
    }
    return others;
  }

  #write(entry: unknown): void {
    const text = Buffer.from(JSON.stringify(entry));
    ftruncateSync(this.#own, 0);
    writeSync(this.#own, text, 0, text.length, 0);
  }
}

/** The file's text; null if it is not ours or its session is gone. The file of such a session is removed. */
function livingText(path: string): string | null {
  let fd: number;
  try {
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || !isOurs(stats) || stats.size > MOST_BYTES) return null;
    if (tryLock(fd) === "busy") return readFileSync(fd, "utf8");
    unlinkSync(path);
    return null;
  } finally {
    closeSync(fd);
  }
}

/** Null: another session has had the lock all the time. */
function locked<T>(directory: PrivateDirectory, run: () => T): T | null {
  const fd = openSync(directory.at("."), O_RDONLY | O_DIRECTORY);
  try {
    for (let tries = 0; tryLock(fd) !== "locked"; tries++) {
      if (tries === TRIES) return null;
      pause(1);
    }
    return run();
  } finally {
    closeSync(fd);
  }
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
