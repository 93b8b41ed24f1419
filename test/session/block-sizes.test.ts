import { describe, expect, test } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { resolveOptions, type SessionOptions } from "../../src/session/options.ts";

const MIB = 2 ** 20;

/** In a store that has room for everything, unless said otherwise. */
function sizes(options: SessionOptions = {}) {
  const resolved = resolveOptions({ workers: 2, objectStoreMemory: "64 GiB", memoryLimit: "6 GiB", ...options });
  const { targetMaxBlockSize: max, targetMinBlockSize: min, targetShuffleMaxBlockSize: shuffle, notices } = resolved;
  return { max, min, shuffle, notices };
}

const mib = (max: number, min: number, shuffle = 512) => ({
  max: max * MIB,
  min: min * MIB,
  shuffle: shuffle * MIB,
  notices: [],
});

describe("block sizes", () => {
  test("[O2] the defaults", () => {
    expect(sizes()).toEqual(mib(128, 1));
  });

  test("[O3] presets", () => {
    expect(sizes({ preset: "etl" })).toEqual(mib(256, 64));
    expect(sizes({ preset: "image" })).toEqual(mib(128, 32));
    expect(sizes({ preset: "analytics" })).toEqual(mib(512, 128));
    expect(sizes({ preset: "memoryConstrained" })).toEqual(mib(64, 16));
    expect(sizes({ preset: "shuffleHeavy" })).toEqual(mib(128, 1, 1024));
  });

  test("[O3] what is said by itself goes before the preset", () => {
    expect(sizes({ preset: "etl", targetMaxBlockSize: "80 MiB" })).toEqual(mib(80, 20));
    expect(sizes({ preset: "etl", targetMinBlockSize: "2 MiB" })).toEqual(mib(256, 2));
    expect(sizes({ preset: "shuffleHeavy", targetShuffleMaxBlockSize: "700 MiB" })).toEqual(mib(128, 1, 700));
  });

  test("[O3] an unknown preset is an error with the nearest", () => {
    const wrong = { preset: "analitics" } as unknown as SessionOptions;
    expect(() => sizes(wrong)).toThrow(OptionError);
    expect(() => sizes(wrong)).toThrow('Did you mean "analytics"?');
    expect(() => sizes({ preset: "constructor" } as unknown as SessionOptions)).toThrow("preset must be one of");
  });

  test("[O2] a minimum above the maximum is an error where both are meant", () => {
    const both: SessionOptions = { targetMinBlockSize: "8 MiB", targetMaxBlockSize: "4 MiB" };
    expect(() => sizes(both)).toThrow("targetMinBlockSize of 8.0 MiB is above targetMaxBlockSize, which is 4.0 MiB");
    expect(() => sizes({ targetMinBlockSize: "1 GiB" })).toThrow(OptionError);
    expect(sizes({ targetMinBlockSize: "4 MiB", targetMaxBlockSize: "4 MiB" })).toEqual(mib(4, 4));
    expect(sizes({ targetMaxBlockSize: "1 MiB" })).toEqual(mib(1, 0.25));
  });

  test("[R2] false turns either off", () => {
    expect(sizes({ targetMinBlockSize: false })).toEqual({ ...mib(128, 1), min: false });
    // A block is never larger than the store, nor than Arrow can count.
    expect(sizes({ targetMaxBlockSize: false })).toEqual({ ...mib(128, 1), max: 2 ** 31 - 1 });
    expect(sizes({ targetMaxBlockSize: false, objectStoreMemory: "64 MiB" }).max).toBe(64 * MIB);
  });

  test("[R2] a small store lowers them to capacity / (2 × workers), with one notice", () => {
    const small = sizes({ objectStoreMemory: "64 MiB", preset: "analytics", targetShuffleMaxBlockSize: "1 GiB" });
    expect(small).toMatchObject({ max: 16 * MIB, min: 4 * MIB, shuffle: 16 * MIB });
    expect(small.notices).toEqual([
      "Block sizes lowered to 16.0 MiB (targetMaxBlockSize from 512 MiB, targetShuffleMaxBlockSize from 1.0 GiB): the store holds 64.0 MiB, room for two such blocks per worker (workers: 2). A larger objectStoreMemory or fewer workers allow larger blocks.",
    ]);
    // A minimum that was meant goes down with the maximum.
    const meant = sizes({ objectStoreMemory: "64 MiB", targetMinBlockSize: "32 MiB", targetMaxBlockSize: "32 MiB" });
    expect(meant).toMatchObject({ max: 16 * MIB, min: 16 * MIB });
  });

  test("[R2] the default is lowered with a notice too; that of shuffles alone is nobody's concern", () => {
    const small = sizes({ objectStoreMemory: "256 MiB" });
    expect(small.max).toBe(64 * MIB);
    expect(small.notices.join()).toContain("lowered to 64.0 MiB (targetMaxBlockSize from 128 MiB)");
    expect(sizes({ objectStoreMemory: "1 GiB" })).toEqual({ ...mib(128, 1), shuffle: 256 * MIB });
  });
});
