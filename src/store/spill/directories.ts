/**
 * The directories that spill files go to: whose turn it is, made when needed (again where one vanished), room looked at
 * before anything is written. No memory of failures: a disk that was full is asked again next time.
 */
import { statfsSync } from "node:fs";
import { mkdir, rmdir, statfs } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Bytes } from "../../protocol/index.ts";
import { formatSize } from "../../units/index.ts";
import { codeOf } from "./whole.ts";

export class SpillDirectories {
  readonly paths: readonly string[];
  /** Every directory that had to be made, parents too. */
  readonly #made = new Set<string>();
  #turn = 0;

  constructor(paths: readonly string[]) {
    this.paths = [...new Set(paths.map((path) => resolve(path)))];
  }

  /** Each directory once, beginning with whose turn it is now. Turns are shared by all who ask at the same time. */
  *inTurn(): Generator<string> {
    const untried = new Set(this.paths);
    while (untried.size > 0) {
      const path = this.paths[this.#turn % this.paths.length] ?? "";
      this.#turn += 1;
      if (untried.delete(path)) yield path;
    }
  }

  /** Throws where the directory cannot be had, or has no room for so many bytes. */
  async prepare(path: string, bytes: Bytes): Promise<void> {
    await this.#make(path);
    const { bavail, bsize } = await statfs(path);
    const free = bavail * bsize;
    if (free < bytes) throw new Error(`there is too little space for ${formatSize(bytes)}`);
  }

  /** Also before the directory is made. Null where it cannot be told. */
  free(path: string): Bytes | null {
    for (let at = path; ; at = dirname(at)) {
      try {
        const { bavail, bsize } = statfsSync(at);
        return bavail * bsize;
      } catch (error) {
        if (codeOf(error) !== "ENOENT" || dirname(at) === at) return null;
      }
    }
  }

  /** Those that were made here and are empty. */
  async removeMade(): Promise<void> {
    const innermostFirst = [...this.#made].sort((one, other) => other.length - one.length);
    // One that others use, or that is gone already, stays as it is.
    for (const path of innermostFirst) await rmdir(path).catch(() => {});
    this.#made.clear();
  }

  /** Node's own recursive mkdir calls a read-only file system ENOENT, and does not say which parents it made. */
  async #make(path: string): Promise<void> {
    const made = await this.#makeOne(path);
    if (made || dirname(path) === path) return;
    await this.#make(dirname(path));
    if (!(await this.#makeOne(path))) throw new Error(`ENOENT: a parent of ${path} vanishes, or is a link to nowhere`);
  }

  /** False where its parent is missing. */
  async #makeOne(path: string): Promise<boolean> {
    try {
      await mkdir(path, { mode: 0o700 });
      this.#made.add(path);
    } catch (error) {
      if (codeOf(error) === "ENOENT") return false;
      if (codeOf(error) !== "EEXIST") throw error;
    }
    return true;
  }
}
