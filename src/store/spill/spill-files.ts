/**
 * The spill files of a session: writes blocks from the arena into files, and reads them back. It does all disk work
 * and takes no decision about which block leaves memory. Reads and writes run in Node's thread pool, a bounded number
 * at once.
 *
 * A file's life:   written (all its blocks, or nothing is left of it) ──▶ read, any number of times
 *                  ──▶ its last block is freed and nobody reads it ──▶ removed
 */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { OptionError, StoreError } from "../../errors/index.ts";
import type { ArenaRange, Bytes } from "../../protocol/index.ts";
import { codeOf, isError } from "../../realm/index.ts";
import { ArenaFile } from "./arena-file.ts";
import { type Codec, codecFor } from "./codecs.ts";
import { SpillDirectories } from "./directories.ts";
import { Lane, type Slices } from "./lane.ts";
import { pays } from "./pays.ts";
import { Quota, QuotaPassed } from "./quota.ts";
import { restoreBlock } from "./read-block.ts";
import { type Refusal, refused } from "./refused.ts";
import type { SpillBlock, SpillPlace, SpillSettings, SpillUsage, SpillWritten } from "./settings.ts";
import { SharedFile } from "./shared-file.ts";
import { type BlockToWrite, writeBlocks } from "./write-file.ts";

/**
 * Writes and reads together use as many threads as Node's pool has. Reads have places of their own, so that restores do
 * not wait behind spills.
 */
const WRITES_AT_ONCE = 2;
const READS_AT_ONCE = 2;

interface SpillFile {
  readonly shared: SharedFile;
  readonly directory: string;
  readonly bytes: Bytes;
  /** Offsets of the blocks that are still needed. */
  readonly blocks: Set<Bytes>;
}

export class SpillFiles {
  readonly #settings: SpillSettings;
  readonly #codec: Codec | null;
  readonly #arena: ArenaFile;
  readonly #directories: SpillDirectories;
  readonly #quota: Quota;
  readonly #writes = new Lane(WRITES_AT_ONCE);
  readonly #reads = new Lane(READS_AT_ONCE);
  readonly #files = new Map<number, SpillFile>();
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #removals = new Set<Promise<void>>();
  /** Files that could not be removed; tried again at the end. */
  readonly #stuck = new Set<string>();
  /** Makes file names unique: two sessions may use the same directory. */
  readonly #prefix = `spill-${randomBytes(4).toString("hex")}`;
  #lastFile = 0;
  #closed: Promise<void> | null = null;

  constructor(settings: SpillSettings) {
    if (settings.directories.length === 0)
      throw new OptionError("localDirectory: spilling needs at least one directory.");
    this.#settings = settings;
    this.#codec = codecFor(settings.compression);
    this.#arena = new ArenaFile(settings.arenaPath);
    this.#directories = new SpillDirectories(settings.directories, settings.label, settings.check);
    this.#quota = new Quota(settings.maxSpill);
  }

  /** Writes all blocks into one new file. If that fails, it throws a SpillError and leaves nothing of the file. */
  async write(blocks: readonly SpillBlock[]): Promise<SpillWritten> {
    this.#assertOpen();
    if (blocks.length === 0) return { places: [], seconds: 0 };
    return this.#track(this.#writes.run((slices) => this.#write(blocks, slices)));
  }

  /**
   * Restores a block into a reserved range of exactly the raw length. Returns the seconds that took. A file that no
   * longer holds the block is a SpillDamagedError.
   */
  async read(place: SpillPlace, into: ArenaRange, checksum: number): Promise<number> {
    this.#assertOpen();
    const file = this.#fileOf(place);
    if (place.codec === "none" && place.stored !== into.length) {
      throw new StoreError(`A spilled block of ${place.stored} bytes cannot be restored into ${into.length} bytes.`);
    }
    file.shared.enter();
    return this.#track(
      this.#reads.run(async (slices) => {
        const start = performance.now();
        try {
          await restoreBlock(file.shared, place, into, checksum, this.#arena, slices);
          return (performance.now() - start) / 1000;
        } finally {
          await file.shared.leave();
          this.#removeIfUnused(place.file, file);
        }
      }),
    );
  }

  /** Removes the file with the last of its blocks, as soon as no reader has it open. */
  free(place: SpillPlace): void {
    if (this.#closed !== null) return;
    const file = this.#fileOf(place);
    file.blocks.delete(place.offset);
    this.#removeIfUnused(place.file, file);
  }

  usage(): readonly SpillUsage[] {
    return this.#directories.paths.map((directory) => {
      const files = [...this.#files.values()].filter((file) => file.directory === directory);
      const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
      return { directory, files: files.length, bytes, free: this.#directories.free(directory) };
    });
  }

  pathOf(place: SpillPlace): string {
    return this.#fileOf(place).shared.path;
  }

  /** Waits for transfers under way, then removes every file and the directories that were made for them. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #end(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    for (const [number, file] of this.#files) this.#remove(number, file);
    await Promise.all(this.#removals);
    for (const path of this.#stuck) await unlink(path).catch(() => {});
    await this.#directories.removeMade();
    await this.#arena.close();
  }

  async #write(blocks: readonly SpillBlock[], slices: Slices): Promise<SpillWritten> {
    const planned: BlockToWrite[] = [];
    for (const { range } of blocks) planned.push({ range, codec: await this.#codecFor(range, slices) });
    const refusals: Refusal[] = [];
    for (const directory of this.#directories.inTurn()) {
      try {
        return await this.#writeTo(directory, planned, slices);
      } catch (error) {
        // A fault of the arena has nothing to do with the directory, and a used-up quota holds for all directories.
        if (error instanceof StoreError || !isError(error)) throw error;
        const isQuota = error instanceof QuotaPassed;
        const paths = isQuota ? this.#directories.paths : [directory];
        const reason = isQuota ? "maxSpill is used up" : error.message;
        refusals.push(...paths.map((path) => ({ path, reason, free: this.#directories.free(path) })));
        if (isQuota) break;
      }
    }
    throw refused(rawBytes(blocks), refusals, this.#quota);
  }

  async #codecFor(range: ArenaRange, slices: Slices): Promise<Codec | null> {
    if (this.#codec === null || this.#settings.compression !== "auto") return this.#codec;
    return (await pays(this.#codec, range, this.#arena, slices)) ? this.#codec : null;
  }

  async #writeTo(directory: string, blocks: readonly BlockToWrite[], slices: Slices): Promise<SpillWritten> {
    const start = performance.now();
    let taken: Bytes = 0;
    const charge = (bytes: Bytes) => {
      this.#quota.take(bytes);
      taken += bytes;
    };
    this.#lastFile += 1;
    const number = this.#lastFile;
    const extension = this.#codec === null ? "arrows" : "blocks";
    const path = join(directory, `${this.#prefix}-${number}.${extension}`);
    let file: FileHandle | null = null;
    try {
      charge(rawBytes(blocks.filter(({ codec }) => codec === null)));
      // Files freed a moment ago are still being removed: their room counts once they are gone.
      await Promise.all(this.#removals);
      await this.#directories.prepare(directory, rawBytes(blocks));
      file = await open(path, "wx", 0o600);
      const stored = await writeBlocks(file, blocks, this.#arena, slices, charge);
      await file.close();
      const places = placesOf(number, blocks, stored);
      const offsets = places.map(({ offset }) => offset);
      this.#files.set(number, { shared: new SharedFile(path), directory, bytes: taken, blocks: new Set(offsets) });
      return { places, seconds: (performance.now() - start) / 1000 };
    } catch (error) {
      await file?.close().catch(() => {});
      if (file !== null) await this.#unlink(path);
      this.#quota.giveBack(taken);
      throw error;
    }
  }

  #fileOf(place: SpillPlace): SpillFile {
    const file = this.#files.get(place.file);
    if (file?.blocks.has(place.offset)) return file;
    throw new StoreError(
      `There is no block at ${place.offset} in spill file ${place.file}: it was freed, or never spilled.`,
    );
  }

  #removeIfUnused(number: number, file: SpillFile): void {
    if (file.blocks.size === 0 && !file.shared.isInUse) this.#remove(number, file);
  }

  #remove(number: number, file: SpillFile): void {
    if (!this.#files.delete(number)) return;
    this.#quota.giveBack(file.bytes);
    const removal = this.#unlink(file.shared.path).finally(() => this.#removals.delete(removal));
    this.#removals.add(removal);
  }

  async #unlink(path: string): Promise<void> {
    try {
      await unlink(path);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") this.#stuck.add(path);
    }
  }

  #assertOpen(): void {
    if (this.#closed !== null) throw new StoreError("The spill files are closed.");
  }

  #track<Result>(work: Promise<Result>): Promise<Result> {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
    return tracked;
  }
}

function rawBytes(blocks: readonly { readonly range: ArenaRange }[]): Bytes {
  return blocks.reduce((sum, { range }) => sum + range.length, 0);
}

function placesOf(file: number, blocks: readonly BlockToWrite[], lengths: readonly Bytes[]): SpillPlace[] {
  let offset = 0;
  return blocks.map(({ codec }, index) => {
    const stored = lengths[index] ?? 0;
    const place: SpillPlace = { file, offset, stored, codec: codec?.name ?? "none" };
    offset += stored;
    return place;
  });
}
