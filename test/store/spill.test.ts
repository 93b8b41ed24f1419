/** Spill files on a disk that works: what goes out comes back, and nothing is left. */
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { tableFromIPC } from "@uwdata/flechette";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { columnsToBatch, planBlock } from "../../src/arrow/index.ts";
import { OptionError } from "../../src/errors/index.ts";
import { libraryC, mapFile } from "../../src/native/index.ts";
import { type SpillCompression, SpillFiles, type SpillSettings } from "../../src/store/spill/index.ts";
import { noise, TestArena, text } from "../support/arena.ts";
import { requires, withoutZstd, withZstd } from "../support/requires.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const home = temporaryDirectory("spill");
let arena: TestArena;
let directory: string;
let round = 0;
const opened: SpillFiles[] = [];

beforeEach(async () => {
  round += 1;
  directory = join(home, String(round), "local", "spill");
  arena = new TestArena(join(home, `arena-${round}`));
  await mkdir(join(home, String(round)));
});

afterEach(async () => {
  for (const files of opened.splice(0)) await files.close();
  arena.close();
  expect(readdirSync(join(home, String(round)))).toEqual([]);
  await rm(join(home, String(round)), { recursive: true });
});

function spillFiles(settings: Partial<SpillSettings> = {}): SpillFiles {
  const files = new SpillFiles({
    arenaPath: arena.path,
    directories: [directory],
    maxSpill: null,
    compression: "none",
    ...settings,
  });
  opened.push(files);
  return files;
}

const codecs: SpillCompression[] = ["none", "lz4", "zstd", "auto"];
const SIZES = [1, 2, 63, 4095, 4096, 4097, 65_537, 262_144, 262_145, 1_048_576, 1_048_577, 3_333_333, 9_000_001];

describe("what was spilled comes back byte for byte", () => {
  for (const compression of codecs) {
    for (const make of [noise, text]) {
      const only = compression === "zstd" ? withZstd : { test };
      only.test(`${compression}, ${make.name}: every size, several blocks a file`, async () => {
        const files = spillFiles({ compression });
        const blocks = SIZES.map((size) => arena.put(make(size, size)));
        const { places, seconds } = await files.write(blocks);
        expect(seconds).toBeGreaterThan(0);
        expect(places).toHaveLength(SIZES.length);
        let end = 0;
        for (const place of places) {
          expect(place.offset).toBe(end);
          end += place.stored;
        }
        const [first] = places;
        if (first === undefined) throw new Error("no place");
        expect(statSync(files.pathOf(first)).size).toBe(end);
        expect(files.usage()).toMatchObject([{ directory, files: 1, bytes: end }]);
        const shrinks = compression !== "none" && make === text;
        const raw = SIZES.reduce((sum, size) => sum + size, 0);
        if (shrinks) expect(end).toBeLessThan(0.7 * raw);
        else expect(end).toBeLessThan(1.001 * raw + 100);
        for (const [index, place] of places.entries()) {
          const block = blocks[index];
          if (block === undefined) throw new Error("no block");
          if (compression === "none" || (compression === "auto" && !shrinks)) expect(place.codec).toBe("none");
          const into = arena.reserve(block.range.length);
          expect(await files.read(place, into, block.checksum)).toBeGreaterThan(0);
          expect(Buffer.compare(arena.get(into), block.bytes)).toBe(0);
        }
      });
    }
  }
});

test("auto compresses each block by itself: only what shrinks by a fifth", async () => {
  const files = spillFiles({ compression: "auto" });
  const blocks = [arena.put(text(100_000)), arena.put(noise(100_000)), arena.put(text(50_000))];
  const { places } = await files.write(blocks);
  expect(places.map(({ codec }) => codec === "none")).toEqual([false, true, false]);
  expect(places[1]?.stored).toBe(100_000);
  for (const [index, place] of places.entries()) {
    const block = blocks[index];
    if (block === undefined) throw new Error("no block");
    const into = arena.reserve(block.range.length);
    await files.read(place, into, block.checksum);
    expect(Buffer.compare(arena.get(into), block.bytes)).toBe(0);
  }
});

test("an uncompressed file of one block is an Arrow stream that others can read", async () => {
  const files = spillFiles();
  const batch = columnsToBatch({ key: Float64Array.of(1, 2, 3), name: ["a", "bb", "ccc"] });
  const plan = planBlock(batch);
  const bytes = new Uint8Array(plan.byteLength);
  plan.write(bytes);
  const { places } = await files.write([arena.put(bytes)]);
  const [place] = places;
  if (place === undefined) throw new Error("no place");
  const table = tableFromIPC(readFileSync(files.pathOf(place)));
  expect(table.toArray()).toEqual([
    { key: 1, name: "a" },
    { key: 2, name: "bb" },
    { key: 3, name: "ccc" },
  ]);
});

test("a file goes with its last block", async () => {
  const files = spillFiles();
  const { places } = await files.write([arena.put(noise(10)), arena.put(noise(20)), arena.put(noise(30))]);
  const [one, two, three] = places;
  if (one === undefined || two === undefined || three === undefined) throw new Error("no places");
  const path = files.pathOf(one);
  files.free(one);
  files.free(three);
  expect(() => files.free(three)).toThrow(/no block at 30 in spill file 1/);
  expect(existsSync(path)).toBe(true);
  expect(files.usage()).toMatchObject([{ files: 1, bytes: 60 }]);
  files.free(two);
  expect(files.usage()).toMatchObject([{ files: 0, bytes: 0 }]);
  await expect.poll(() => existsSync(path)).toBe(false);
  await expect(files.read(two, arena.reserve(20), 0)).rejects.toThrow(/no block at 10/);
  expect(() => files.pathOf(one)).toThrow(/no block/);
});

test("a block freed while it is read is read to its end, then its file goes", async () => {
  const files = spillFiles();
  const block = arena.put(noise(5_000_000));
  const [place] = (await files.write([block])).places;
  if (place === undefined) throw new Error("no place");
  const path = files.pathOf(place);
  const into = [arena.reserve(5_000_000), arena.reserve(5_000_000), arena.reserve(5_000_000)];
  // The third waits in line and has not opened the file when the block is freed.
  const reads = into.map((range) => files.read(place, range, block.checksum));
  files.free(place);
  expect(existsSync(path)).toBe(true);
  expect(files.usage()).toMatchObject([{ files: 1 }]);
  await Promise.all(reads);
  for (const range of into) expect(Buffer.compare(arena.get(range), block.bytes)).toBe(0);
  expect(files.usage()).toMatchObject([{ files: 0, bytes: 0 }]);
  await expect.poll(() => existsSync(path)).toBe(false);
});

test("many writes and reads at once do not mix", async () => {
  const files = spillFiles({ directories: [directory, join(directory, "inner")], compression: "auto" });
  const work = Array.from({ length: 40 }, async (_, index) => {
    const make = index % 2 === 0 ? noise : text;
    const blocks = [arena.put(make(1 + index * 9973, index)), arena.put(make(300_000 + index, index + 100))];
    const { places } = await files.write(blocks);
    for (const [at, place] of places.entries()) {
      const block = blocks[at];
      if (block === undefined) throw new Error("no block");
      const into = arena.reserve(block.range.length);
      await files.read(place, into, block.checksum);
      expect(Buffer.compare(arena.get(into), block.bytes)).toBe(0);
      files.free(place);
    }
  });
  await Promise.all(work);
  expect(files.usage()).toMatchObject([
    { files: 0, bytes: 0 },
    { files: 0, bytes: 0 },
  ]);
});

test("nothing is made before the first spill; directories and files are their owner's alone", async () => {
  const files = spillFiles();
  expect(existsSync(join(home, String(round), "local"))).toBe(false);
  const [usage] = files.usage();
  expect(usage?.free).toBeGreaterThan(0);
  const [place] = (await files.write([arena.put(noise(100))])).places;
  if (place === undefined) throw new Error("no place");
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(files.pathOf(place)).mode & 0o777).toBe(0o600);
});

test("close waits for what is under way, removes every file and the directories that were made", async () => {
  const before = join(home, String(round), "before");
  await mkdir(before);
  const files = spillFiles({ directories: [directory, join(before, "a", "b")] });
  const writes = [1, 2, 3, 4, 5].map((seed) => files.write([arena.put(noise(2_000_000, seed))]));
  const closed = files.close();
  await expect(files.write([arena.put(noise(1))])).rejects.toThrow(/are closed/);
  const written = await Promise.all(writes);
  expect(written.map(({ places }) => places.length)).toEqual([1, 1, 1, 1, 1]);
  await closed;
  expect(existsSync(join(home, String(round), "local"))).toBe(false);
  expect(readdirSync(before)).toEqual([]);
  await rm(before, { recursive: true });
});

const TMPFS = 0x01021994;
const onDisk =
  process.platform === "linux" && statfsSync(home).type !== TMPFS ? null : `${home} is in memory, or not on Linux`;

requires("temporary files on a disk", onDisk).test(
  "spilling and restoring leave nothing in the page cache",
  async () => {
    const files = spillFiles();
    const blocks = [arena.put(noise(20_000_000)), arena.put(noise(1_000_001)), arena.put(noise(500))];
    const { places } = await files.write(blocks);
    const [first, second] = places;
    if (first === undefined || second === undefined) throw new Error("no places");
    expect(cachedPages(files.pathOf(first))).toBe(0);
    await files.read(second, arena.reserve(1_000_001), blocks[1]?.checksum ?? 0);
    expect(cachedPages(files.pathOf(first))).toBe(0);
    await files.read(first, arena.reserve(20_000_000), blocks[0]?.checksum ?? 0);
    expect(cachedPages(files.pathOf(first))).toBe(0);
  },
);

function cachedPages(path: string): number {
  const mincore = libraryC().declare<[number, number, Uint8Array], number>(
    "int mincore(uint64 address, uint64 length, _Out_ uint8_t *pages)",
  );
  const { size } = statSync(path);
  const fd = openSync(path, "r");
  const memory = mapFile(fd, size, false);
  const pages = new Uint8Array(Math.ceil(size / 4096));
  expect(mincore(memory.address, size, pages)).toBe(0);
  memory.unmap();
  closeSync(fd);
  return pages.reduce((sum, page) => sum + (page & 1), 0);
}

test("settings that cannot be are refused at once", () => {
  expect(() => spillFiles({ directories: [] })).toThrow(OptionError);
});

withoutZstd.test("so is zstd", () => {
  expect(() => spillFiles({ compression: "zstd" })).toThrow(/needs Node 22.15 or later; this is Node/);
});
