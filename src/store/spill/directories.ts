/**
 * The directories that spill files go to: whose turn it is, made when needed (again where one vanished), room looked at
 * before anything is written. No memory of failures: a disk that was full is asked again next time.
 */
import { statfsSync } from "node:fs";
import { mkdir, rmdir, statfs, unlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Bytes } from "../../protocol/index.ts";
import { codeOf } from "../../realm/index.ts";
import { formatSize } from "../../units/index.ts";
import type { SpillLabel } from "./settings.ts";

/** Another session may remove an empty parent at the same moment; then it is made again, so often. */
const TRIES = 10;

export class SpillDirectories {
  readonly paths: readonly string[];
  /** Every directory that had to be made, parents too. */
  readonly #made = new Set<string>();
  readonly #labelled = new Set<string>();
  readonly #label: SpillLabel | null;
  #turn = 0;

  constructor(
    paths: readonly string[],
    label: SpillLabel | null = null,
    /** Throws where a directory is there and not to be used. */
    private readonly check: (path: string) => void = () => {},
  ) {
    this.#label = label;
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
    const isNew = await this.#make(path);
    this.check(path);
    if (isNew || !this.#labelled.has(path)) await this.#putLabel(path);
    const { bavail, bsize } = await statfs(path);
    const free = bavail * bsize;
    if (free < bytes) throw new Error(`too little space for ${formatSize(bytes)}`);
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
    for (const path of this.#labelled) await unlink(this.#labelOf(path)).catch(() => {});
    this.#labelled.clear();
    const innermostFirst = [...this.#made].sort((one, other) => other.length - one.length);
    // One that others use, or that is gone already, stays as it is.
    for (const path of innermostFirst) await rmdir(path).catch(() => {});
    this.#made.clear();
  }

  /** Node's own recursive mkdir calls a read-only file system ENOENT, and does not say which parents it made. */
  async #make(path: string): Promise<boolean> {
    const found = await this.#makeOne(path);
    if (found !== "no parent" || dirname(path) === path) return found === "made";
    await this.#make(dirname(path));
    for (let tries = 0; tries < TRIES; tries++) {
      if ((await this.#makeOne(path)) !== "no parent") return true;
      await this.#makeOne(dirname(path));
    }
    throw new Error(`ENOENT: a parent of ${path} vanishes, or is a link to nowhere`);
  }

  async #makeOne(path: string): Promise<"made" | "there" | "no parent"> {
    try {
      await mkdir(path, { mode: 0o700 });
      this.#made.add(path);
      return "made";
    } catch (error) {
      if (codeOf(error) === "ENOENT") return "no parent";
      if (codeOf(error) !== "EEXIST") throw error;
      return "there";
    }
  }

  async #putLabel(path: string): Promise<void> {
    this.#labelled.delete(path);
    if (this.#label === null) return;
    await writeFile(this.#labelOf(path), this.#label.text, { mode: 0o600 });
    this.#labelled.add(path);
  }

  #labelOf(path: string): string {
    return join(dirname(path), this.#label?.name ?? "");
  }
}
