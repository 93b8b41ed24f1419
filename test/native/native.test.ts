import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  addressOf,
  allocate,
  callAsync,
  copy,
  libraryC,
  mallocTrim,
  mapFile,
  pin,
  punchHole,
  reserveRange,
} from "../../src/native/index.ts";
import { onLinux } from "../support/requires.ts";

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "spillway-native-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function scratchFile(name: string, size: number): number {
  const fd = openSync(join(directory, name), "w+");
  ftruncateSync(fd, size);
  return fd;
}

describe("mapped files", () => {
  it("what is written through a mapping is in the file and in every other mapping", () => {
    const fd = scratchFile("shared", 1 << 16);
    const one = mapFile(fd, 1 << 16, true);
    const two = mapFile(fd, 1 << 16, false);
    one.view(4096, 5).set([1, 2, 3, 4, 5]);
    expect([...two.view(4096, 5)]).toEqual([1, 2, 3, 4, 5]);
    expect([...readFileSync(join(directory, "shared")).subarray(4096, 4101)]).toEqual([1, 2, 3, 4, 5]);
    one.unmap();
    two.unmap();
    closeSync(fd);
  });

  it("a view outside of the mapping, or after unmap, is refused", () => {
    const fd = scratchFile("bounds", 4096);
    const memory = mapFile(fd, 4096, true);
    expect(() => memory.view(4000, 97)).toThrow(/outside of this memory of 4096 bytes/);
    expect(() => memory.view(-1, 1)).toThrow(/outside/);
    memory.unmap();
    memory.unmap();
    expect(() => memory.view(0, 1)).toThrow(/given back/);
    closeSync(fd);
  });

  it("a view of more than 4 GiB is refused, not fatal; views anywhere in a larger mapping work", () => {
    const size = 10 * 2 ** 30;
    const fd = scratchFile("sparse", size);
    const memory = mapFile(fd, size, true);
    expect(() => memory.view(0, 2 ** 32 + 1)).toThrow(/the limit is 4 GiB/);
    for (const offset of [0, 2 ** 31 - 3, 2 ** 32 - 2, 3 * 2 ** 31 + 5, size - 4]) {
      memory.view(offset, 4).set([9, 8, 7, offset % 251]);
      const again = memory.view(offset, 4);
      expect([...again]).toEqual([9, 8, 7, offset % 251]);
      expect(addressOf(again)).toBe(memory.address + offset);
    }
    expect(memory.view(1, 2 ** 32).length).toBe(2 ** 32);
    memory.unmap();
    closeSync(fd);
  });

  it("a failed mapping names the error code", () => {
    expect(() => mapFile(9999, 4096, true)).toThrow(/EBADF/);
  });
});

describe("addresses", () => {
  it("native and pinned memory have one, JavaScript's own has none", () => {
    const area = allocate(100);
    expect(area.address % 64).toBe(0);
    expect(addressOf(area.view(10, 20))).toBe(area.address + 10);
    expect(addressOf(area.view(10, 20).subarray(5))).toBe(area.address + 15);
    expect(addressOf(new Uint8Array(10))).toBeNull();
    const kept = area.view(0, 1);
    area.free();
    expect(addressOf(kept)).toBeNull();
    const pinned = pin(64);
    expect(addressOf(new Uint8Array(pinned.buffer, 8))).toBe(pinned.address + 8);
  });

  it("copy moves bytes between native and pinned memory", () => {
    const area = allocate(64);
    area.view(0, 3).set([7, 8, 9]);
    const pinned = pin(64);
    copy(pinned.address + 1, area.address, 3);
    expect([...new Uint8Array(pinned.buffer, 0, 5)]).toEqual([0, 7, 8, 9, 0]);
    area.free();
  });
});

onLinux.describe("space in files", () => {
  const blocks = (name: string) => statSync(join(directory, name)).blocks * 512;

  it("reserving takes space, punching a hole gives it back and reads as zeros", () => {
    const fd = scratchFile("holes", 8 << 20);
    expect(blocks("holes")).toBe(0);
    reserveRange(fd, 0, 8 << 20);
    expect(blocks("holes")).toBeGreaterThanOrEqual(8 << 20);
    const memory = mapFile(fd, 8 << 20, true);
    memory.view(0, 8 << 20).fill(1);
    punchHole(fd, 1 << 20, 2 << 20);
    expect(blocks("holes")).toBeLessThanOrEqual(6 << 20);
    expect(memory.view(1 << 20, 1)[0]).toBe(0);
    expect(memory.view(3 << 20, 1)[0]).toBe(1);
    memory.unmap();
    closeSync(fd);
  });

  it("more than the device has is an error that says ENOSPC, and reserves nothing", () => {
    const path = join("/dev/shm", `spillway-native-test-${process.pid}`);
    const fd = openSync(path, "w+");
    try {
      const { blocks: count, bsize } = statfsSync("/dev/shm");
      const tooMuch = (count + 1) * bsize;
      ftruncateSync(fd, tooMuch * 2);
      expect(() => reserveRange(fd, 0, tooMuch)).toThrow(/ENOSPC.*device is full/);
      expect(statSync(path).blocks).toBe(0);
    } finally {
      closeSync(fd);
      rmSync(path);
    }
  });
});

it("malloc_trim answers whether it gave something back", () => {
  const areas = Array.from({ length: 2000 }, () => allocate(60_000));
  for (const area of areas) area.view(0, area.size).fill(1);
  for (const area of areas) area.free();
  expect(typeof mallocTrim()).toBe("boolean");
});

it("more asynchronous calls than koffi takes at once wait in line", async () => {
  const absolute = libraryC().declare<[number], number>("int64 labs(int64)");
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => callAsync(absolute, -i)));
  expect(answers).toEqual(Array.from({ length: 200 }, (_, i) => i));
});

onLinux.describe("[A15] a child that dies with its parent", () => {
  it("is gone after SIGKILL of the parent", async () => {
    const native = pathToFileURL(join(import.meta.dirname, "../../src/native/index.ts")).href;
    const child = `import { dieWithParent } from ${JSON.stringify(native)};
      dieWithParent(); console.log(process.pid); setInterval(() => {}, 1000);`;
    const parent = `import { spawn } from "node:child_process";
      spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", ${JSON.stringify(child)}],
        { stdio: ["ignore", "inherit", "inherit"] });
      setInterval(() => {}, 1000);`;
    const started = spawn(process.execPath, ["--input-type=module", "-e", parent], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(started.stdout, "data")) as [Buffer];
    const pid = Number(String(line));
    expect(() => process.kill(pid, 0)).not.toThrow();
    // The child holds the other end of the pipe: it closes when the child is gone too.
    const closed = once(started.stdout, "close");
    started.stdout.resume();
    started.kill("SIGKILL");
    await closed;
    const state = () => {
      try {
        return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.[0];
      } catch {
        return "gone";
      }
    };
    // Its files are closed a moment before it is gone.
    await expect.poll(state).toMatch(/gone|Z|X/);
  });
});
