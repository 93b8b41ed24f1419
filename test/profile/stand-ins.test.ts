/** What user code sees of the stand-ins for constructors while a profile runs, and after it. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { Buffers } from "../../src/profile/buffers.ts";
import { replaceMakers } from "../../src/profile/stand-ins.ts";

const KIB = 1024;
const NAMES = ["ArrayBuffer", "SharedArrayBuffer", "Uint8Array", "Float64Array", "BigInt64Array"] as const;
const before = globals();
let buffers: Buffers;
let restore: () => void;

beforeEach(() => {
  buffers = new Buffers();
  restore = replaceMakers(buffers);
});
afterEach(() => {
  buffers.stop();
  restore();
});

function globals(): readonly unknown[] {
  const { alloc, allocUnsafe, allocUnsafeSlow, from, concat } = Buffer;
  const typed: unknown = Reflect.get(Object.getPrototypeOf(Uint8Array.prototype), "toSorted");
  const constructors = NAMES.flatMap((name) => {
    const maker: unknown = Reflect.get(globalThis, name);
    const prototype = Reflect.get(Object(maker), "prototype");
    const descriptor = Object.getOwnPropertyDescriptor(globalThis, name);
    return [maker, Reflect.get(prototype, "constructor"), descriptor?.writable, descriptor?.enumerable];
  });
  return [...constructors, alloc, allocUnsafe, allocUnsafeSlow, from, concat, typed, ArrayBuffer.prototype.slice];
}

const counted = (value: ArrayBufferView | ArrayBufferLike) =>
  buffers.counted.has(ArrayBuffer.isView(value) ? value.buffer : value);

test("[M8] everything is as it was when the profile ends", () => {
  expect(globals()).not.toEqual(before);
  const early = Uint8Array;
  restore();
  for (const [i, value] of globals().entries()) expect(value).toBe(before[i]);
  // A name that was taken meanwhile goes on to work.
  expect(new early(3)).toBeInstanceOf(Uint8Array);
});

test("[M8] instanceof, constructor, subclasses, new.target and static methods work meanwhile", () => {
  const bytes = new Uint8Array([3, 1, 2]);
  expect(bytes instanceof Uint8Array).toBe(true);
  expect(bytes.constructor).toBe(Uint8Array);
  expect(Object.getPrototypeOf(bytes)).toBe(Uint8Array.prototype);
  expect(Uint8Array.name).toBe("Uint8Array");
  expect(Uint8Array.BYTES_PER_ELEMENT).toBe(1);
  expect(() => Reflect.apply(Uint8Array, undefined, [3])).toThrow(TypeError);
  expect(() => new Uint8Array(-1)).toThrow(RangeError);
  class Twice extends Float64Array {
    readonly made: unknown;
    constructor(values: number) {
      super(values);
      this.made = new.target;
    }
    get sum() {
      return this.reduce((sum, one) => sum + 2 * one, 0);
    }
  }
  const twice = Reflect.construct(Twice, [[1, 2]]);
  expect(twice).toBeInstanceOf(Twice);
  expect(twice).toBeInstanceOf(Float64Array);
  expect(twice.made).toBe(Twice);
  expect(twice.map((one: number) => one + 1).sum).toBe(10);
  expect(Float64Array.from([1, 2], (one) => one * 2)).toEqual(new Float64Array([2, 4]));
  expect(Uint8Array.of(1, 2)).toBeInstanceOf(Uint8Array);
  expect(Twice.from([1])).toBeInstanceOf(Twice);
  expect(structuredClone(bytes)).toBeInstanceOf(Uint8Array);
  expect(structuredClone(bytes).constructor).toBe(Uint8Array);
  const buffer = Buffer.from("héllo");
  expect(buffer).toBeInstanceOf(Uint8Array);
  expect(Buffer.isBuffer(buffer)).toBe(true);
  expect(buffer.toString()).toBe("héllo");
  expect(bytes.toSorted()).toEqual(Uint8Array.of(1, 2, 3));
  expect(new Uint8Array(bytes.buffer, 1, 1)[0]).toBe(1);
});

test("[M8] every large buffer is counted, by whichever maker", () => {
  const size = 256 * KIB;
  const source = Buffer.alloc(size, 1);
  const made: readonly (ArrayBufferView | ArrayBufferLike)[] = [
    source,
    new ArrayBuffer(size),
    new SharedArrayBuffer(size),
    new Uint8Array(size),
    new Float64Array(size / 8),
    new Uint8Array(source),
    Uint8Array.from(source),
    Buffer.allocUnsafe(size),
    Buffer.allocUnsafeSlow(size),
    Buffer.from(source),
    Buffer.from("x".repeat(size)),
    Buffer.concat([source, source]),
    new Uint8Array(size).slice(),
    new ArrayBuffer(2 * size).slice(size),
    new Uint8Array(size).map((one) => one + 1),
    new Uint8Array(size).toReversed(),
    new TextEncoder().encode("x".repeat(size)),
  ];
  expect(made.map(counted)).toEqual(made.map(() => true));
});

test("[M8] views over memory that is counted, and slices of the pool, are not counted", () => {
  const memory = new ArrayBuffer(256 * KIB);
  const { last } = buffers;
  expect(new Uint8Array(memory).subarray(5).length).toBeGreaterThan(0);
  expect(Buffer.from(memory).length).toBe(256 * KIB);
  for (let i = 0; i < 10_000; i++) Buffer.from("small");
  expect(buffers.last).toBe(last);
});

test("[M8] small buffers are sampled without bias", () => {
  const sizes = [100, 1000, 10_000, 60_000];
  const held: Uint8Array[] = [];
  let bytes = 0;
  for (let i = 0; bytes < 400 * 2 ** 20; i++) {
    const size = sizes[i % sizes.length] ?? 0;
    held.push(new Uint8Array(size));
    bytes += size;
    if (held.length > 1000) held.length = 0;
  }
  // Each stands for 128 KiB and more: so many within 10 %, where one in twenty would be off by 3.5 %.
  const expected = sizes.reduce((sum, size) => sum + chance(size) / sizes.length, 0);
  const made = (bytes / sizes.reduce((sum, size) => sum + size, 0)) * sizes.length;
  expect(buffers.last / (made * expected)).toBeGreaterThan(0.9);
  expect(buffers.last / (made * expected)).toBeLessThan(1.1);
});

function chance(size: number): number {
  return 1 - Math.exp(-size / (128 * KIB));
}

test("[M8] a user's own formatting of stack traces stays", () => {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.prepareStackTrace = () => "mine";
  Error.stackTraceLimit = 3;
  try {
    expect(counted(new Uint8Array(256 * KIB))).toBe(true);
    expect(new Error("x").stack).toBe("mine");
    expect(Error.stackTraceLimit).toBe(3);
  } finally {
    Error.prepareStackTrace = prepareStackTrace;
    Error.stackTraceLimit = stackTraceLimit;
  }
});
