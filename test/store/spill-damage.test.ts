/** Spill files that somebody deleted, cut or changed: found out at the restore, and named. */
import { closeSync, mkdirSync, openSync, readSync, rmSync, truncateSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fromWire, SpillDamagedError, toWire } from "../../src/errors/index.ts";
import { type SpillCompression, SpillFiles, type SpillPlace } from "../../src/store/spill/index.ts";
import { noise, TestArena, type TestBlock, text } from "../support/arena.ts";
import { withZstd } from "../support/requires.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const home = temporaryDirectory("spill-damage");
const arena = new TestArena(join(home, "arena"));
afterAll(() => arena.close());

async function spilled(compression: SpillCompression, bytes: Uint8Array) {
  const files = new SpillFiles({
    arenaPath: arena.path,
    directories: [join(home, "spill")],
    maxSpill: null,
    compression,
  });
  const block = arena.put(bytes);
  const { places } = await files.write([arena.put(noise(5000)), block]);
  const [, place] = places;
  if (place === undefined) throw new Error("no place");
  return { files, block, place, path: files.pathOf(place) };
}

async function damageOf(files: SpillFiles, place: SpillPlace, block: TestBlock): Promise<SpillDamagedError> {
  const error = await files.read(place, arena.reserve(block.range.length), block.checksum).then(
    () => new Error("It was restored."),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SpillDamagedError);
  if (!(error instanceof SpillDamagedError)) throw error;
  return error;
}

function flip(path: string, at: number): void {
  const fd = openSync(path, "r+");
  const byte = new Uint8Array(1);
  readSync(fd, byte, 0, 1, at);
  byte[0] = (byte[0] ?? 0) ^ 0x10;
  writeSync(fd, byte, 0, 1, at);
  closeSync(fd);
}

test("a missing file is named, also across processes", async () => {
  const { files, block, place, path } = await spilled("none", noise(10_000));
  rmSync(path);
  const error = await damageOf(files, place, block);
  expect(error).toMatchObject({ file: path, reason: "missing", range: { offset: 5000, length: 10_000 } });
  expect(error.message).toContain(
    `The spill file ${path} is missing: a block of 9.8 KiB at 5000 cannot be restored (ENOENT`,
  );
  const again = fromWire(JSON.parse(JSON.stringify(toWire(error))));
  expect(again).toBeInstanceOf(SpillDamagedError);
  expect(again).toMatchObject({ file: path, reason: "missing", range: { offset: 5000, length: 10_000 } });
  await files.close();
});

test("a file that cannot be read is named", async () => {
  const { files, block, place, path } = await spilled("none", noise(10_000));
  rmSync(path);
  mkdirSync(path);
  expect(await damageOf(files, place, block)).toMatchObject({ file: path, reason: "unreadable" });
  rmSync(path, { recursive: true });
  await files.close();
});

for (const compression of ["none", "lz4", "zstd"] as const) {
  const only = compression === "zstd" ? withZstd : { test };
  only.test(`${compression}: a file cut short, or with a changed byte, is found out`, async () => {
    for (const make of [noise, text]) {
      const { files, block, place, path } = await spilled(compression, make(700_001));
      const step = Math.max(1, Math.floor(place.stored / 40));
      // The first four bytes are a chunk's length where it is compressed.
      for (const at of [0, 1, 2, 3, 4, 5]) {
        flip(path, place.offset + at);
        expect((await damageOf(files, place, block)).reason).toBe("checksum");
        flip(path, place.offset + at);
      }
      for (let at = 0; at < place.stored; at += step) {
        flip(path, place.offset + at);
        expect((await damageOf(files, place, block)).reason).toBe("checksum");
        flip(path, place.offset + at);
      }
      await files.read(place, arena.reserve(block.range.length), block.checksum);
      truncateSync(path, place.offset + place.stored - 1);
      expect(await damageOf(files, place, block)).toMatchObject({ file: path, reason: "truncated" });
      await files.close();
    }
  });
}
