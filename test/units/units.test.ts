import { expect, test } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { formatDuration, formatSize, nearest, parseDuration, parseSize } from "../../src/units/index.ts";

test("sizes: bytes, binary and decimal units, shares of a whole", () => {
  const size = (value: number | string, whole?: number) =>
    parseSize(value, whole === undefined ? { name: "x" } : { name: "x", whole });
  expect(size("4 GiB")).toBe(2 ** 32);
  expect(size("512 MB")).toBe(512e6);
  expect(size("1.5kib")).toBe(1536);
  expect(size(4096)).toBe(4096);
  expect(size("4096")).toBe(4096);
  expect(size(0)).toBe(0);
  expect(size("50%", 1000)).toBe(500);
  expect(size(0.3, 1000)).toBe(300);
  expect(size(1, 1000)).toBe(1000);
  for (const bad of ["", "4 GiBs", "-1", "GiB", "50%", 0.5, -5, Number.NaN])
    expect(() => size(bad)).toThrow(OptionError);
  expect(() => size("200%", 10)).toThrow(OptionError);
  expect(() => size("1e400 GiB")).toThrow("is not a size");
  expect(() => size(Number.NaN)).toThrow("x: NaN is not a size");
  // Where a size depends on no whole, what was meant is named.
  expect(() => size(0.5)).toThrow(
    "x: 0.5 is a share of the machine, which only settings of a session can be. Here it must be",
  );
  expect(() => size(0.5)).toThrow('0.5 GiB is "0.5 GiB"');
  expect(() => size("50%")).toThrow('"50%" is a share');
  expect([formatSize(0), formatSize(1023), formatSize(1536), formatSize(2 ** 32), formatSize(300 * 2 ** 20)]).toEqual([
    "0 B",
    "1023 B",
    "1.5 KiB",
    "4.0 GiB",
    "300 MiB",
  ]);
});

test("durations: milliseconds or text", () => {
  expect(["30s", "500ms", "2m", "1h", "1.5 s", "20"].map((value) => parseDuration(value, "x"))).toEqual([
    30_000, 500, 120_000, 3_600_000, 1500, 20,
  ]);
  for (const bad of ["", "soon", "5 weeks", -1, Number.NaN]) expect(() => parseDuration(bad, "x")).toThrow(OptionError);
  expect([0.5, 5, 999, 2100, 125_000, 3_700_000].map(formatDuration)).toEqual([
    "500us",
    "5.0ms",
    "999ms",
    "2.1s",
    "2m 5s",
    "1h 1m",
  ]);
});

test("the nearest name, or none that is near", () => {
  expect(nearest("prcie", ["price", "name"])).toBe("price");
  expect(nearest("PRICE", ["price", "name"])).toBe("price");
  expect(nearest("batchsize", ["batchSize", "batchFormat"])).toBe("batchSize");
  expect(nearest("zzzzzz", ["price", "name"])).toBeNull();
});
