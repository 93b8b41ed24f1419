import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createArena, removeArena } from "../../src/store/index.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "spillway-arena-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("[R4] the arena lies in shared memory, readable by its owner alone, sparse and larger than the capacity", () => {
  const shared = join(directory, "shm");
  mkdirSync(shared);
  const arena = createArena("s1", 10 * 4096, directory, shared);
  const stats = statSync(arena.place.path);
  expect(arena.place.path).toBe(join(shared, "spillway-s1"));
  expect(stats.mode & 0o777).toBe(0o600);
  expect(stats.size).toBe(arena.place.size);
  expect(arena.place.size).toBeGreaterThan(4 * arena.place.capacity);
  expect(stats.blocks).toBe(0);
  expect(arena.notice).toBe(null);
  writeSync(arena.fd, Buffer.of(1), 0, 1, arena.place.size - 1);
  removeArena(arena);
  expect(existsSync(arena.place.path)).toBe(false);
});

test("where shared memory is too small the arena is a file in the session's directory, and the user is told", () => {
  const arena = createArena("s2", 10 * 4096, directory, join(directory, "nowhere"));
  expect(arena.place.path).toBe(join(directory, "spillway-s2"));
  expect(arena.notice).toMatchObject({ kind: "storeOnDisk", free: 0, capacity: 40 * 2 ** 10 });
  removeArena(arena);
});

test("a store that fits nowhere is an error with every figure", () => {
  expect(() => createArena("s3", 2 ** 52, directory)).toThrow(/The store needs 4096 TiB: \/dev\/shm has/);
  expect(() => createArena("s4", 100, directory)).toThrow(/100 B is too small/);
});

test("two sessions never share an arena", () => {
  const arena = createArena("s5", 4096, directory, directory);
  expect(() => createArena("s5", 4096, directory, directory)).toThrow(/EEXIST/);
  removeArena(arena);
});
