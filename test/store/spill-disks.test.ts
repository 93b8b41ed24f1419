/** Spill files on disks that are small, full, read-only or gone: real file systems of the test's own. */
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fromWire, SpillError, StoreError, toWire } from "../../src/errors/index.ts";
import { SpillFiles, type SpillPlace, type SpillSettings } from "../../src/store/spill/index.ts";
import { noise, TestArena, text } from "../support/arena.ts";
import { mountTmpfs, remount, withMounts } from "../support/mounts.ts";
import { requires } from "../support/requires.ts";
import { beingSecondUser, noSecondUser, SECOND_USER } from "../support/second-user.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
const home = temporaryDirectory("spill-disks");
let arena: TestArena;
let here: string;
let round = 0;
const undo: (() => unknown)[] = [];

beforeEach(() => {
  round += 1;
  here = join(home, String(round));
  mkdirSync(here);
  arena = new TestArena(join(home, `arena-${round}`));
  undo.push(() => arena.close());
});
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function spillFiles(directories: readonly string[], settings: Partial<SpillSettings> = {}): SpillFiles {
  const files = new SpillFiles({
    arenaPath: arena.path,
    directories,
    maxSpill: null,
    compression: "none",
    ...settings,
  });
  undo.push(() => files.close());
  return files;
}

function tmpfs(name: string, size: number): string {
  const at = join(here, name);
  undo.push(mountTmpfs(at, size));
  return at;
}

async function spill(files: SpillFiles, bytes: number): Promise<SpillPlace> {
  const { places } = await files.write([arena.put(noise(bytes))]);
  const [place] = places;
  if (place === undefined) throw new Error("no place");
  return place;
}

async function refusal(attempt: Promise<unknown>): Promise<SpillError> {
  const error = await attempt.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof SpillError) return error;
  throw error ?? new Error("It worked.");
}

const counts = (files: SpillFiles) => files.usage().map((usage) => usage.files);

test("[D3] files go round robin over the directories", async () => {
  const files = spillFiles(["a", "b", "c"].map((name) => join(here, name)));
  for (let turn = 0; turn < 7; turn++) await spill(files, 1000);
  expect(files.usage().map(({ directory, files, bytes }) => ({ directory, files, bytes }))).toEqual([
    { directory: join(here, "a"), files: 3, bytes: 3000 },
    { directory: join(here, "b"), files: 2, bytes: 2000 },
    { directory: join(here, "c"), files: 2, bytes: 2000 },
  ]);
  await Promise.all([1, 2].map(() => spill(files, 1000)));
  expect(counts(files)).toEqual([3, 3, 3]);
});

test("[D3] a directory that fails is passed over, and asked again the next time", async () => {
  const broken = join(here, "broken");
  writeFileSync(broken, "no directory");
  const files = spillFiles([join(here, "a"), broken, join(here, "c")]);
  for (let turn = 0; turn < 4; turn++) await spill(files, 1000);
  expect(counts(files)).toEqual([2, 0, 2]);
  rmSync(broken);
  for (let turn = 0; turn < 3; turn++) await spill(files, 1000);
  expect(counts(files)).toEqual([3, 1, 3]);
});

test("[D3] a directory that vanished is made again, and removed at the end", async () => {
  const path = join(here, "outer", "inner");
  const files = spillFiles([path]);
  await spill(files, 1000);
  rmSync(join(here, "outer"), { recursive: true });
  await spill(files, 1000);
  expect(readdirSync(path)).toHaveLength(1);
  await files.close();
  expect(readdirSync(here)).toEqual([]);
});

test("[D3] maxSpill is exact, over all directories, and room when blocks are freed", async () => {
  const files = spillFiles([join(here, "a"), join(here, "b")], { maxSpill: 10_000 });
  const first = await spill(files, 4000);
  await spill(files, 6000);
  const error = await refusal(spill(files, 1));
  expect(error.maxSpill).toBe(10_000);
  expect(error.spilled).toBe(10_000);
  expect(error.directories.map(({ path, reason }) => ({ path, reason }))).toEqual([
    { path: join(here, "a"), reason: "maxSpill is used up" },
    { path: join(here, "b"), reason: "maxSpill is used up" },
  ]);
  for (const { free } of error.directories) expect(free).toBeGreaterThan(0);
  expect(error.message).toMatch(/^1 B could not be spilled\. .* 9\.8 KiB are spilled so far, maxSpill is 9\.8 KiB\. /);
  expect(error.message).toMatch(/raise maxSpill/);
  files.free(first);
  await refusal(spill(files, 4001));
  await spill(files, 4000);
  await refusal(spill(files, 1));
});

test("[D3] maxSpill counts what is stored: compressed blocks as they are written, and nothing of a refused file", async () => {
  const blocks = [1, 2, 3, 4].map((seed) => arena.put(text(500 * KIB, seed)));
  const free = spillFiles([join(here, "measure")], { compression: "lz4" });
  const { places } = await free.write(blocks);
  const stored = places.reduce((sum, place) => sum + place.stored, 0);
  expect(stored).toBeLessThan(1000 * KIB);
  const path = join(here, "a");
  const tight = spillFiles([path], { compression: "lz4", maxSpill: stored - 1 });
  const error = await refusal(tight.write(blocks));
  expect(error.spilled).toBe(0);
  expect(readdirSync(path)).toEqual([]);
  expect(tight.usage()).toMatchObject([{ files: 0, bytes: 0 }]);
  const enough = spillFiles([path], { compression: "lz4", maxSpill: stored });
  await enough.write(blocks);
  expect(enough.usage()).toMatchObject([{ files: 1, bytes: stored }]);
});

test("[D3] where no directory works there is one error with every directory, its reason and free bytes", async () => {
  const one = join(here, "one");
  const two = join(here, "two");
  writeFileSync(one, "");
  writeFileSync(two, "");
  const files = spillFiles([one, join(two, "deeper")]);
  const error = await refusal(spill(files, 5 * MIB));
  expect(error.directories.map(({ path }) => path)).toEqual([one, join(two, "deeper")]);
  expect(error.directories.map(({ reason }) => /^E[A-Z]+/.exec(reason)?.[0])).toEqual(["ENOTDIR", "ENOTDIR"]);
  expect(error.maxSpill).toBe(null);
  expect(error.message).toContain(`5.0 MiB could not be spilled. ${one}: ENOTDIR`);
  expect(error.message).toContain("0 B are spilled so far, there is no maxSpill. Free space there, choose another");
  const again = fromWire(JSON.parse(JSON.stringify(toWire(error))));
  expect(again).toBeInstanceOf(SpillError);
  expect(again).toMatchObject({ directories: error.directories, maxSpill: null, spilled: 0, message: error.message });
});

requires("a second user", noSecondUser).test("[D3] a directory of somebody else is named with EACCES", async () => {
  const locked = join(here, "locked");
  mkdirSync(locked, { mode: 0o755 });
  // The second user gets there, and no further.
  for (const path of [home, here]) chmodSync(path, 0o755);
  chownSync(arena.path, SECOND_USER, SECOND_USER);
  const error = await beingSecondUser(() => refusal(spill(spillFiles([locked]), 10)));
  expect(error.directories[0]?.reason).toMatch(/^EACCES/);
});

withMounts.describe("[D3] small file systems", () => {
  test("free space is looked at before anything is written, and spilling goes on when it returns", async () => {
    const small = tmpfs("small", 1 * MIB);
    const files = spillFiles([small]);
    const first = await spill(files, 700 * KIB);
    const error = await refusal(spill(files, 400 * KIB));
    expect(error.directories).toEqual([{ path: small, reason: "too little space for 400 KiB", free: 324 * KIB }]);
    expect(error.spilled).toBe(700 * KIB);
    expect(readdirSync(small)).toHaveLength(1);
    files.free(first);
    await spill(files, 1 * MIB);
  });

  test("a full disk is passed over as long as another has room", async () => {
    const files = spillFiles([tmpfs("small", 1 * MIB), join(here, "large")]);
    for (let turn = 0; turn < 4; turn++) await spill(files, 600 * KIB);
    expect(counts(files)).toEqual([1, 3]);
  });

  test("a disk that fills up while it is written to: nothing is left of the file, and no block is lost", async () => {
    const small = tmpfs("small", 16 * MIB);
    const files = spillFiles([small]);
    const block = arena.put(noise(14 * MIB));
    const attempt = refusal(files.write([block]));
    // Somebody else takes the room once the file is there; each slice of it passes through this thread.
    while (readdirSync(small).length === 0) await new Promise((turn) => setImmediate(turn));
    const { bavail, bsize } = statfsSync(small);
    writeFileSync(join(small, "somebody"), new Uint8Array(bavail * bsize - 64 * KIB));
    const error = await attempt;
    expect(error.directories[0]?.reason).toMatch(/^ENOSPC/);
    expect(readdirSync(small)).toEqual(["somebody"]);
    expect(files.usage()).toMatchObject([{ files: 0, bytes: 0 }]);
    rmSync(join(small, "somebody"));
    const { places } = await files.write([block]);
    const [place] = places;
    if (place === undefined) throw new Error("no place");
    const into = arena.reserve(14 * MIB);
    await files.read(place, into, block.checksum);
    expect(Buffer.compare(arena.get(into), block.bytes)).toBe(0);
  });

  test("the same with a second directory: the blocks go there", async () => {
    const small = tmpfs("small", 16 * MIB);
    const files = spillFiles([small, join(here, "large")], { maxSpill: 14 * MIB });
    const attempt = spill(files, 14 * MIB);
    while (readdirSync(small).length === 0) await new Promise((turn) => setImmediate(turn));
    const { bavail, bsize } = statfsSync(small);
    writeFileSync(join(small, "somebody"), new Uint8Array(bavail * bsize - 64 * KIB));
    await attempt;
    expect(counts(files)).toEqual([0, 1]);
    expect(readdirSync(small)).toEqual(["somebody"]);
  });

  test("a read-only directory is passed over, then named", async () => {
    const fixed = tmpfs("fixed", 1 * MIB);
    remount(fixed, "ro");
    const both = spillFiles([fixed, join(here, "other")]);
    await spill(both, 1000);
    await spill(both, 1000);
    expect(counts(both)).toEqual([0, 2]);
    const alone = spillFiles([join(fixed, "spill")]);
    const error = await refusal(spill(alone, 1000));
    expect(error.directories[0]?.reason).toMatch(/^EROFS/);
    expect(error.directories[0]?.free).toBe(1 * MIB);
    remount(fixed, "rw");
    await spill(alone, 1000);
  });

  test("a full arena is an error and not the end of the process; the file is still good", async () => {
    const memory = tmpfs("memory", 1 * MIB);
    const full = new TestArena(join(memory, "arena"));
    undo.push(() => full.close());
    const files = spillFiles([join(here, "disk")], { arenaPath: full.path });
    const block = full.put(noise(600 * KIB));
    const { places } = await files.write([block]);
    const [place] = places;
    if (place === undefined) throw new Error("no place");
    const error = await files.read(place, full.reserve(600 * KIB), block.checksum).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toMatch(/The arena .* cannot be written: ENOSPC/);
    await files.read(place, block.range, block.checksum);
    expect(existsSync(files.pathOf(place))).toBe(true);
  });
});
