/** Approximate sizes: what counts, what counts once, and who says otherwise. */

import { tableFromArrays } from "@uwdata/flechette";
import { tableFromArrays as apacheTable } from "apache-arrow";
import { describe, expect, test, vi } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { registerSizeof, sizeof } from "../../src/sizeof/index.ts";

const between = (value: unknown, low: number, high: number) => {
  expect(sizeof(value)).toBeGreaterThanOrEqual(low);
  expect(sizeof(value)).toBeLessThanOrEqual(high);
};

describe("[K2] sizeof", () => {
  test("[K2] primitives, and texts of one or two bytes a character", () => {
    for (const value of [0, 1, true, null, undefined]) expect(sizeof(value)).toBe(8);
    expect(sizeof(1.5)).toBe(16);
    expect(sizeof("")).toBe(16);
    expect(sizeof("é".repeat(1000))).toBe(1016);
    expect(sizeof(`${"e".repeat(999)}€`)).toBe(2016);
    expect(sizeof(1n)).toBe(24);
    expect(sizeof(-(2n ** 1000n))).toBe(16 + 128);
    between(Symbol("x"), 8, 100);
    between(() => 1, 8, 200);
  });

  test("[K2] typed arrays, Buffers and views count their memory once, whole", () => {
    between(new Float64Array(1000), 8000, 8400);
    const shared = new ArrayBuffer(1_000_000);
    const views = Array.from({ length: 10 }, (_, i) => new Uint8Array(shared, i * 10, 10));
    between(views, 1_000_000, 1_003_000);
    between([shared, new DataView(shared), shared], 1_000_000, 1_001_000);
    between(new SharedArrayBuffer(5000), 5000, 5200);
    const buffer = Buffer.alloc(100_000);
    between({ buffer, part: buffer.subarray(0, 10) }, 100_000, 101_000);
  });

  test("[K2] collections, dates, patterns, errors, nested", () => {
    between(new Map([["a", new Uint8Array(1000)]]), 1100, 1600);
    between(new Set(["x".repeat(1000)]), 1000, 1300);
    between(new Date(), 24, 200);
    between(/x+/, 24, 300);
    between(new Error("x".repeat(1000)), 1000, 6000);
    between({ a: [{ b: new Uint8Array(500) }, [["x".repeat(500)]]] }, 1000, 1800);
    expect(sizeof({ a: 1, b: 2 }) - sizeof({ a: 1 })).toBe(8);
    expect(sizeof({ [Symbol("s")]: "x".repeat(1000) })).toBeGreaterThan(1000);
  });

  test("[K2] cycles and what is met twice count once; getters are not called; depth does not matter", () => {
    const node: { self?: unknown; data: Uint8Array } = { data: new Uint8Array(1000) };
    node.self = [node, new Map([[node, node]])];
    between(node, 1000, 2000);
    const data = new Uint8Array(1000);
    between([data, data, { data }], 1000, 1600);
    const getter = {
      get value(): never {
        throw new Error("called");
      },
    };
    between(getter, 16, 100);
    let deep: unknown = null;
    for (let i = 0; i < 200_000; i++) deep = { deep };
    between(deep, 200_000 * 24, 200_000 * 64);
  });

  test("[K2] large collections are sampled: items of any size in any pattern, shared things once", () => {
    const rows = Array.from({ length: 200_000 }, (_, i) => ({ id: i, text: "x".repeat(i % 10 === 0 ? 1000 : 10) }));
    const exact = rows.reduce((sum, row) => sum + sizeof(row), 0);
    between(rows, exact * 0.8, exact * 1.2);
    const table = new Uint8Array(10_000_000);
    const referring = Array.from({ length: 100_000 }, (_, i) => ({ i, table }));
    between(referring, 14_000_000, 18_000_000);
    between(new Map(rows.map((row) => [row.id, row])), exact, exact * 1.7);
    const started = process.cpuUsage();
    sizeof(rows);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(1000);
  });

  test("[K2] Arrow tables by their buffers", () => {
    const columns = { id: Float64Array.from({ length: 100_000 }, (_, i) => i), n: new Int32Array(100_000) };
    between(tableFromArrays(columns), 1_200_000, 1_500_000);
    between(apacheTable(columns), 1_200_000, 1_500_000);
  });
});

describe("[K2] registerSizeof", () => {
  test("[K2] what a copy of the package was told, another one in the same process knows", async () => {
    class Handle {
      readonly bytes = 12_345;
    }
    vi.resetModules();
    const copy = await import("../../src/sizeof/index.ts");
    expect(copy.registerSizeof).not.toBe(registerSizeof);
    copy.registerSizeof(Handle, ({ bytes }) => bytes);
    expect(sizeof(new Handle())).toBe(12_345);
  });

  class Handle {
    constructor(readonly bytes: number) {}
  }
  class Named extends Handle {
    readonly name = "x".repeat(5000);
  }
  class Own extends Named {}

  test("[K2] a class tells its size; subclasses inherit it, the nearest wins", () => {
    expect(sizeof(new Handle(12_345))).toBeLessThan(100);
    registerSizeof(Handle, (handle) => handle.bytes);
    expect(sizeof(new Handle(12_345))).toBe(12_345);
    expect(sizeof(new Named(12_345))).toBe(12_345);
    between([new Handle(1000), new Named(2000)], 3000, 3200);
    registerSizeof(Own, (own) => own.name.length);
    expect(sizeof(new Own(12_345))).toBe(5000);
    expect(sizeof(new Named(12_345))).toBe(12_345);
    const one = new Handle(1000);
    between([one, one], 1000, 1200);
  });

  test("[K2] what gives no number of bytes is named", () => {
    class Broken {}
    registerSizeof(Broken, () => Number.NaN);
    expect(() => sizeof([new Broken()])).toThrow("the function for Broken returned NaN");
    expect(() => registerSizeof({} as never, () => 1)).toThrow(OptionError);
    registerSizeof(Broken, () => 1);
  });
});
