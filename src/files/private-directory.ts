/**
 * Directories that only this user can have written to: a real directory, owned by us, closed to everybody else. In a
 * place where everybody may write (/tmp), a name proves nothing. So a directory is opened first, and then checked and
 * used through its descriptor: the directory that was checked is the one that is used, even if its path is replaced in
 * between.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, mkdirSync, openSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { codeOf } from "../realm/index.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;
const FOR_OTHERS = 0o077;

/** A directory exists and cannot be trusted; `why` follows its path: "belongs to user 1001". */
export class NotPrivate extends Error {
  override readonly name = "NotPrivate";

  constructor(
    readonly path: string,
    readonly why: string,
  ) {
    super(`${path} ${why}`);
  }
}

export class PrivateDirectory {
  readonly #fd: number;

  private constructor(
    readonly path: string,
    fd: number,
  ) {
    this.#fd = fd;
  }

  /** Throws NotPrivate if another user could have written into it, and the system's error if it does not exist. */
  static open(path: string): PrivateDirectory {
    return PrivateDirectory.#open(path, path);
  }

  /** Makes it if it is missing; its parent must exist. */
  static make(path: string): PrivateDirectory {
    makeOne(path);
    return PrivateDirectory.open(path);
  }

  static #open(at: string, path: string): PrivateDirectory {
    let fd: number;
    try {
      fd = openSync(at, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    } catch (error) {
      throw refusal(at, path) ?? error;
    }
    const why = whyNotPrivate(fstatSync(fd));
    if (why === null) return new PrivateDirectory(path, fd);
    closeSync(fd);
    throw new NotPrivate(path, why);
  }

  /** The path of an entry through the descriptor, if the system has such paths. Valid until it is closed. */
  at(name: string): string {
    const here = `/proc/self/fd/${this.#fd}`;
    return join(hasDescriptorPaths() ? here : this.path, name);
  }

  /** Opens a private directory inside this one. */
  inside(name: string): PrivateDirectory {
    return PrivateDirectory.#open(this.at(basename(name)), join(this.path, basename(name)));
  }

  makeInside(name: string): PrivateDirectory {
    makeOne(this.at(basename(name)));
    return this.inside(name);
  }

  stats(): Stats {
    return fstatSync(this.#fd);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** Calls `use` and closes the directory. */
export function using<Result>(directory: PrivateDirectory, use: (directory: PrivateDirectory) => Result): Result {
  try {
    return use(directory);
  } finally {
    directory.close();
  }
}

/** Why a directory at this path cannot be trusted; null if it can, or if it does not exist. */
export function whyTaken(path: string): string | null {
  try {
    PrivateDirectory.open(path).close();
    return null;
  } catch (error) {
    return error instanceof NotPrivate ? error.why : null;
  }
}

export function isOurs({ uid }: Stats): boolean {
  return process.geteuid === undefined || uid === process.geteuid();
}

function whyNotPrivate(stats: Stats): string | null {
  if (!isOurs(stats)) return `belongs to user ${stats.uid}`;
  const mode = stats.mode & 0o7777;
  return (mode & FOR_OTHERS) === 0 ? null : `is open to other users (mode 0${mode.toString(8)})`;
}

/** A link or a file is refused, too; for other failures, the system's own error is thrown. */
function refusal(at: string, path: string): NotPrivate | null {
  const stats = lstatSync(at, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  if (stats.isSymbolicLink()) return new NotPrivate(path, "is a link");
  if (!stats.isDirectory()) return new NotPrivate(path, "is no directory");
  return isOurs(stats) ? null : new NotPrivate(path, `belongs to user ${stats.uid}`);
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
}

let descriptorPaths: boolean | null = null;

/** True on Linux with /proc. On other systems the path itself is used. */
function hasDescriptorPaths(): boolean {
  descriptorPaths ??= process.platform === "linux" && existsSync("/proc/self/fd");
  return descriptorPaths;
}
