import { afterEach, expect, test } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { sizeof } from "../../src/sizeof/index.ts";
import {
  isEvicting,
  isMapLike,
  missingMethods,
  setWorkerData,
  workerData,
  workerDataBytes,
} from "../../src/worker-data/index.ts";

/** A Map-like of another kind, whose values only its methods tell. */
class Plain {
  readonly #items = new Map<string, unknown>();
  reads = 0;
  get(key: string) {
    this.reads += 1;
    return this.#items.get(key);
  }
  set(key: string, value: unknown) {
    this.#items.set(key, value);
  }
  has(key: string) {
    return this.#items.has(key);
  }
  delete(key: string) {
    this.#items.delete(key);
  }
  keys() {
    return this.#items.keys();
  }
}

afterEach(() => {
  Reflect.deleteProperty(globalThis, Symbol.for("spillway.workerData"));
});

test("[K14] worker data is what has the methods of a Map, and evicting what has `fast` and evict()", () => {
  expect(isMapLike(new Map())).toBe(true);
  expect(isMapLike(new Plain())).toBe(true);
  expect(missingMethods(new Set())).toEqual(["get", "set"]);
  expect(missingMethods(null)).toEqual(["get", "set", "has", "delete", "keys"]);
  expect(isEvicting(new Map())).toBe(false);
  expect(isEvicting(Object.assign(new Map(), { evict: () => -1 }))).toBe(false);
  expect(isEvicting(Object.assign(new Map(), { evict: () => -1, fast: {} }))).toBe(false);
  expect(isEvicting(Object.assign(new Map(), { evict: () => -1, fast: new Map() }))).toBe(true);
});

test("[K14] what it holds is what its values take", () => {
  const map = new Map([["a", Buffer.alloc(1_000_000)]]);
  expect(workerDataBytes(map)).toBe(sizeof(map));
  expect(workerDataBytes(map)).toBeGreaterThanOrEqual(1_000_000);
  const plain = new Plain();
  plain.set("a", new Float64Array(125_000));
  const bytes = workerDataBytes(plain);
  expect(bytes).toBeGreaterThanOrEqual(1_000_000);
  expect(bytes).toBeLessThan(1_001_000);
  expect(plain.reads).toBe(1);
});

test("[K14] values() tells the values without a get, which would look like use", () => {
  const plain = Object.assign(new Plain(), { values: () => [Buffer.alloc(5000)] });
  plain.set("a", 1);
  expect(workerDataBytes(plain)).toBeGreaterThanOrEqual(5000);
  expect(plain.reads).toBe(0);
});

test("[K14] a figure of its own counts before any measuring", () => {
  const big = () => new Map([["a", Buffer.alloc(1000)]]);
  expect(workerDataBytes(Object.assign(big(), { bytes: 7 }))).toBe(7);
  expect(workerDataBytes(Object.assign(big(), { totalWeight: 8 }))).toBe(8);
  expect(workerDataBytes(Object.assign(big(), { calculatedSize: 9 }))).toBe(9);
  expect(workerDataBytes(Object.assign(big(), { bytes: Number.NaN }))).toBeGreaterThan(1000);
});

test("[K14] of an evicting one only the fast part counts", () => {
  const fast = new Map([["a", Buffer.alloc(100_000)]]);
  const data = Object.assign(new Map([["b", Buffer.alloc(1_000_000)]]), { fast, evict: () => -1 });
  expect(workerDataBytes(data)).toBe(sizeof(fast));
});

test("[K14] workerData finds it, and is an error where there is none", () => {
  expect(() => workerData()).toThrow(OptionError);
  expect(() => workerData()).toThrow("workerData: there is no worker data here.");
  const map = new Map();
  setWorkerData(map);
  expect(workerData()).toBe(map);
});
