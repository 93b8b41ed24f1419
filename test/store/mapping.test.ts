import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createArena, removeArena } from "../../src/store/index.ts";
import { MappedArena } from "../../src/store/mapping.ts";
import { mountTmpfs, withMounts } from "../support/mounts.ts";

const MIB = 1 << 20;
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "spillway-mapping-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test.for(["/dev/shm", "on disk"])("[R4] a range is backed before it is written, and only that range: %s", (place) => {
  const shared = place === "on disk" ? join(directory, "nowhere") : place;
  const arena = createArena(`mapping-${process.pid}`, 4 * MIB, directory, shared);
  try {
    const backed = () => statSync(arena.place.path).blocks * 512;
    const mapped = new MappedArena(arena.place);
    expect(backed()).toBe(0);
    const bytes = mapped.writable({ offset: MIB, length: MIB - 100 });
    expect(backed()).toBe(MIB);
    bytes.fill(7);
    expect(bytes.byteLength).toBe(MIB - 100);
    expect(readFileSync(arena.place.path).subarray(MIB - 1, MIB + 2)).toEqual(Buffer.of(0, 7, 7));
    mapped.close();
  } finally {
    removeArena(arena);
  }
});

withMounts.test("[R4] a range that a full tmpfs has no memory for is an error, and leaves nothing behind", () => {
  const small = join(directory, "small");
  const unmount = mountTmpfs(small, MIB);
  const path = join(small, "arena");
  const fd = openSync(path, "w+");
  try {
    ftruncateSync(fd, 8 * MIB);
    const mapped = new MappedArena({ path, size: 8 * MIB, capacity: 8 * MIB });
    mapped.writable({ offset: 0, length: MIB / 2 }).fill(1);
    expect(() => mapped.writable({ offset: MIB, length: MIB })).toThrow(/could not be reserved: ENOSPC/);
    mapped.writable({ offset: 4 * MIB, length: MIB / 2 }).fill(1);
    mapped.close();
  } finally {
    closeSync(fd);
    unmount();
  }
});
