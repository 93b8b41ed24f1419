/**
 * The directories for spill files. Directories take turns and are made when first needed (again if one vanished). Room
 * is checked before anything is written. Failures are not remembered: a disk that was full is asked again next time.
 */
import { statfsSync } from "node:fs";
import { mkdir, rmdir, statfs, unlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Bytes } from "../../protocol/index.ts";
import { codeOf } from "../../realm/index.ts";
import { formatSize } from "../../units/index.ts";
import type { SpillLabel } from "./settings.ts";

/** How often a parent directory is made again: another session may remove it, empty, at the same moment. */
const TRIES = 10;

export class SpillDirectories {
  readonly paths: readonly string[];
  /** Every directory that this session made, parents too. */
  readonly #made = new Set<string>();
  readonly #labelled = new Set<string>();
  readonly #label: SpillLabel | null;
  #turn = 0;

  constructor(
    paths: readonly string[],
    label: SpillLabel | null = null,
    /** Throws if the directory exists and must not be used. */
    private readonly check: (path: string) => void = () => {},
  ) {
    this.#label = label;
    this.paths = [...new Set(paths.map((path) => resolve(path)))];
  }

  /** Each directory once, starting with the one whose turn it is. Concurrent callers share the turns. */
  *inTurn(): Generator<string> {
    const untried = new Set(this.paths);
    while (untried.size > 0) {
      const path = this.paths[this.#turn % this.paths.length] ?? "";
      this.#turn += 1;
      if (untried.delete(path)) yield path;
    }
  }

  /** Throws if the directory cannot be made, or has too little room for so many bytes. */
  async prepare(path: string, bytes: Bytes): Promise<void> {
    const isNew = await this.#make(path);
    this.check(path);
    if (isNew || !this.#labelled.has(path)) await this.#putLabel(path);
    const { bavail, bsize } = await statfs(path);
    const free = bavail * bsize;
    if (free < bytes) throw new Error(`too little space for ${formatSize(bytes)}`);
  }

  /** Free bytes at the path, also before the directory is made. Null: unknown. */
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

  /** Removes the directories that were made here and are empty. */
  async removeMade(): Promise<void> {
    for (const path of this.#labelled) await unlink(this.#labelOf(path)).catch(() => {});
    this.#labelled.clear();
    const innermostFirst = [...this.#made].sort((one, other) => other.length - one.length);
    // A directory that others use, or that is already gone, is left alone.
    for (const path of innermostFirst) await rmdir(path).catch(() => {});
    this.#made.clear();
  }

  /** Node's recursive mkdir reports a read-only file system as ENOENT, and does not say which parents it made. */
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
