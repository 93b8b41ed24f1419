/**
 * Sinks of numbers and booleans. Each class has its own `write` instead of an inherited one: it is called once a value,
 * and V8 only inlines a method of a single class into the generated code of rows.
 */
import { isTypedArray, typedArrayName } from "../../realm/index.ts";
import { bitmapBytes, packBits } from "../bitmap.ts";
import type { DataType, IntType, Vector } from "../types.ts";
import { misfit, type Place, unfit } from "./misfit.ts";
import { bytesOf, enlarged, leaf, NullFlags, type Sink } from "./sink.ts";

export class Float64Sink implements Sink {
  readonly type: DataType = { kind: "float", bits: 64 };
  private readonly nulls = new NullFlags();
  private values = new Float64Array(0);
  constructor(private readonly place: Place) {}

  write(index: number, value: unknown): void {
    if (index >= this.values.length) this.grow(index + 1);
    if (typeof value === "number") {
      this.values[index] = value;
      if (this.nulls.any) this.nulls.setValid(index);
    } else this.writeOther(index, value);
  }
  private writeOther(index: number, value: unknown): void {
    if (value === null || value === undefined) {
      this.values[index] = 0;
      this.nulls.setNull(index);
    } else if (typeof value === "bigint" && this.place.declared) this.write(index, Number(value));
    else misfit(this.place, this.type, value);
  }
  writeAll(index: number, values: ArrayLike<number>): boolean {
    const end = index + values.length;
    if (end > this.values.length) this.grow(end);
    this.values.set(values, index);
    this.nulls.setAllValid(index, end);
    return true;
  }
  byteLength(length: number): number {
    return length * 8 + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    return leaf(this.type, length, this.nulls.finish(length), bytesOf(this.values, length, 8));
  }
  private grow(needed: number): void {
    this.values = enlarged(Float64Array, this.values, needed, (target, source) => target.set(source));
  }
}

type SmallArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array;
type SmallConstructor = {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): SmallArray;
  readonly BYTES_PER_ELEMENT: number;
};

/** Integers of up to 32 bits, and half and single floats: each value is converted when it is written. */
class SmallSink implements Sink {
  private readonly nulls = new NullFlags();
  private values: SmallArray;
  constructor(
    readonly type: DataType,
    private readonly place: Place,
    private readonly kind: SmallConstructor,
    /** Converts a number to the element to store; throws if there is none. */
    private readonly convert: (value: number) => number,
    private readonly takesAll: (values: ArrayLike<number>) => boolean,
  ) {
    this.values = new kind(new ArrayBuffer(0), 0, 0);
  }
  write(index: number, value: unknown): void {
    if (index >= this.values.length) this.grow(index + 1);
    if (typeof value === "number") {
      this.values[index] = this.convert(value);
      if (this.nulls.any) this.nulls.setValid(index);
    } else if (value === null || value === undefined) {
      this.values[index] = 0;
      this.nulls.setNull(index);
    } else if (typeof value === "bigint" && this.place.declared) this.write(index, Number(value));
    else misfit(this.place, this.type, value);
  }
  writeAll(index: number, values: ArrayLike<number>): boolean {
    if (!this.takesAll(values)) return false;
    const end = index + values.length;
    if (end > this.values.length) this.grow(end);
    this.values.set(values, index);
    this.nulls.setAllValid(index, end);
    return true;
  }
  byteLength(length: number): number {
    return length * this.kind.BYTES_PER_ELEMENT + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    const bytes = bytesOf(this.values, length, this.kind.BYTES_PER_ELEMENT);
    return leaf(this.type, length, this.nulls.finish(length), bytes);
  }
  private grow(needed: number): void {
    this.values = enlarged(this.kind, this.values, needed, (target, source) => target.set(source));
  }
}

const INTEGERS = {
  8: [Int8Array, Uint8Array],
  16: [Int16Array, Uint16Array],
  32: [Int32Array, Uint32Array],
} as const;

export function integerSink(type: IntType, place: Place): Sink {
  if (type.bits === 64) return new Int64Sink(type, place);
  const kind = INTEGERS[type.bits][type.signed ? 0 : 1];
  const low = type.signed ? -(2 ** (type.bits - 1)) : 0;
  const high = type.signed ? 2 ** (type.bits - 1) - 1 : 2 ** type.bits - 1;
  const convert = (value: number): number => {
    if (value >= low && value <= high && Number.isInteger(value)) return value;
    return unfit(place, type, value, `it takes whole numbers from ${low} to ${high}`);
  };
  return new SmallSink(
    type,
    place,
    kind,
    convert,
    (values) => isTypedArray(values) && typedArrayName(values) === kind.name,
  );
}

export function smallFloatSink(bits: 16 | 32, place: Place): Sink {
  const type: DataType = { kind: "float", bits };
  if (bits === 16) return new SmallSink(type, place, Uint16Array, halfFloatBits, () => false);
  return new SmallSink(
    type,
    place,
    Float32Array,
    (value) => value,
    () => true,
  );
}

const single = new Float32Array(1);
const singleBits = new Uint32Array(single.buffer);

/** The nearest half float, ties to even. */
function halfFloatBits(value: number): number {
  single[0] = value;
  const bits = singleBits[0] as number;
  const sign = (bits >>> 16) & 0x8000;
  if (Number.isNaN(value)) return sign | 0x7e00;
  const size = Math.abs(value);
  if (size >= 65520) return sign | 0x7c00;
  if (size < 2 ** -14) return sign | roundHalfEven(size * 2 ** 24);
  const exponent = Math.floor(Math.log2(size));
  const scale = size < 2 ** exponent ? exponent - 1 : exponent;
  // A fraction that rounds up to 1024 carries into the exponent, which is correct.
  return sign | (((scale + 15) << 10) + roundHalfEven((size / 2 ** scale - 1) * 1024));
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  if (rest !== 0.5) return rest > 0.5 ? floor + 1 : floor;
  return floor % 2 === 0 ? floor : floor + 1;
}

/** 64-bit integers from bigints; from whole numbers, too, if the type is declared. */
class Int64Sink implements Sink {
  private readonly nulls = new NullFlags();
  private values = new BigInt64Array(0);
  private words = new Int32Array(0);
  constructor(
    readonly type: IntType,
    private readonly place: Place,
  ) {}

  write(index: number, value: unknown): void {
    if (index >= this.values.length) this.grow(index + 1);
    if (typeof value === "bigint") {
      const kept = this.type.signed ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value);
      if (kept !== value) unfit(this.place, this.type, value, "it is past 64 bits");
      this.values[index] = value;
    } else if (typeof value === "number" && this.place.declared) this.writeNumber(index, value);
    else if (value === null || value === undefined) {
      this.values[index] = 0n;
      this.nulls.setNull(index);
      return;
    } else misfit(this.place, this.type, value);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  private writeNumber(index: number, value: number): void {
    const low = value | 0;
    if (low === value && (low >= 0 || this.type.signed)) {
      this.words[2 * index] = low;
      this.words[2 * index + 1] = low >> 31;
      return;
    }
    if (!Number.isSafeInteger(value) || (value < 0 && !this.type.signed)) {
      unfit(this.place, this.type, value, "it takes whole numbers within 2^53, and bigints");
    }
    const high = Math.floor(value / 4294967296);
    this.words[2 * index] = value - high * 4294967296;
    this.words[2 * index + 1] = high;
  }
  /** False at the first number that is not whole: writing one by one then reports it. */
  writeAll(index: number, values: ArrayLike<number>): boolean {
    if (!this.place.declared) return false;
    const count = values.length;
    if (index + count > this.values.length) this.grow(index + count);
    const { words } = this;
    const lowest = this.type.signed ? -Number.MAX_SAFE_INTEGER : 0;
    for (let at = 0, to = 2 * index; at < count; at++, to += 2) {
      const value = values[at] as number;
      const low = value | 0;
      if (low === value && low >= lowest) {
        words[to] = low;
        words[to + 1] = low >> 31;
        continue;
      }
      const high = Math.floor(value / 4294967296);
      if (!(value >= lowest && value <= Number.MAX_SAFE_INTEGER) || Math.floor(value) !== value) return false;
      words[to] = value - high * 4294967296;
      words[to + 1] = high;
    }
    this.nulls.setAllValid(index, index + count);
    return true;
  }
  byteLength(length: number): number {
    return length * 8 + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    return leaf(this.type, length, this.nulls.finish(length), bytesOf(this.values, length, 8));
  }
  private grow(needed: number): void {
    this.values = enlarged(BigInt64Array, this.values, needed, (target, source) => target.set(source));
    this.words = new Int32Array(this.values.buffer);
  }
}

export class BoolSink implements Sink {
  readonly type: DataType = { kind: "bool" };
  private readonly nulls = new NullFlags();
  /** A boolean is kept as a byte, and packed into a bit at the end. */
  private values = new Uint8Array(0);
  private bits = new Uint8Array(0);
  constructor(private readonly place: Place) {}

  write(index: number, value: unknown): void {
    if (index >= this.values.length) {
      this.values = enlarged(Uint8Array, this.values, index + 1, (target, source) => target.set(source));
    }
    if (typeof value === "boolean") {
      this.values[index] = value ? 1 : 0;
      if (this.nulls.any) this.nulls.setValid(index);
    } else if (value === null || value === undefined) {
      this.values[index] = 0;
      this.nulls.setNull(index);
    } else misfit(this.place, this.type, value);
  }
  byteLength(length: number): number {
    return bitmapBytes(length) + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    const bytes = bitmapBytes(length);
    if (this.bits.length < bytes) this.bits = new Uint8Array(bytes * 2);
    packBits(this.bits, this.values, length);
    return leaf(this.type, length, this.nulls.finish(length), this.bits.subarray(0, bytes));
  }
}
