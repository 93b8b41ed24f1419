/** Numeric columns as typed arrays: the kind of array for a type, and copying of values without nulls. */
import type { ColumnValues, DataType, ValueOptions, Vector } from "../types.ts";
import { bufferOf, viewOf } from "../vector.ts";
import { decimalNumber, halfFloat, integerTooLarge, wideInteger } from "./exact.ts";

export type NumericArray = Exclude<ColumnValues, readonly unknown[]>;

export interface NumericColumn {
  /** A fresh array. Not zeroed if that is faster, because every element is written. */
  allocate(length: number): NumericArray;
  /** Copies values [from, to) of a vector that has no nulls there. */
  copy(target: NumericArray, at: number, vector: Vector, from: number, to: number): void;
}

type NumericConstructor<T> = {
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
};

/** Below this size, zeroing costs less than allocating through Buffer. */
const UNZEROED_BYTES = 4096;

function allocator<T>(Kind: NumericConstructor<T>): (length: number) => T {
  return (length) => {
    const bytes = length * Kind.BYTES_PER_ELEMENT;
    if (bytes < UNZEROED_BYTES) return new Kind(new ArrayBuffer(bytes), 0, length);
    return new Kind(Buffer.allocUnsafeSlow(bytes).buffer, 0, length);
  };
}

/** Elements are laid out in the buffer as in the array, so one copy of memory is enough. */
function direct<T extends NumericArray>(Kind: NumericConstructor<T>): NumericColumn {
  return {
    allocate: allocator(Kind),
    copy(target, at, vector, from, to) {
      const source = viewOf(Kind, bufferOf(vector, 1), vector.offset + from, to - from);
      // Source and target are made by the same constructor, but TypeScript cannot connect the two calls.
      (target as Float64Array).set(source as Float64Array, at);
    },
  };
}

function converted(
  copy: (target: Float64Array, at: number, vector: Vector, from: number, to: number) => void,
): NumericColumn {
  return {
    allocate: allocator(Float64Array),
    copy: (target, at, vector, from, to) => copy(target as Float64Array, at, vector, from, to),
  };
}

function wideIntegers(signed: boolean, column: string): NumericColumn {
  return converted((target, at, vector, from, to) => {
    const count = to - from;
    const words = viewOf(Int32Array, bufferOf(vector, 1), 2 * (vector.offset + from), 2 * count);
    for (let index = 0; index < count; index++) {
      const high = words[2 * index + 1] as number;
      const value = (signed ? high : high >>> 0) * 4294967296 + ((words[2 * index] as number) >>> 0);
      if (value > Number.MAX_SAFE_INTEGER || value < -Number.MAX_SAFE_INTEGER) {
        integerTooLarge(column, wideInteger(words, index, signed));
      }
      target[at + index] = value;
    }
  });
}

function decimals(size: number, scale: number): NumericColumn {
  const power = 10 ** scale;
  const divides = scale >= 0 && scale <= 22;
  return converted((target, at, vector, from, to) => {
    const count = to - from;
    const words = viewOf(Int32Array, bufferOf(vector, 1), size * (vector.offset + from), size * count);
    for (let index = 0; index < count; index++) {
      const first = index * size;
      const low = words[first] as number;
      const high = size === 1 ? low >> 31 : (words[first + 1] as number);
      let value = high * 4294967296 + (low >>> 0);
      const sign = high >> 31;
      let fits = divides && value <= Number.MAX_SAFE_INTEGER && value >= -Number.MAX_SAFE_INTEGER;
      for (let word = 2; word < size; word++) fits &&= words[first + word] === sign;
      value = fits ? value / power : decimalNumber(words, index, size, scale);
      target[at + index] = value;
    }
  });
}

const halfFloats: NumericColumn = {
  allocate: allocator(Float32Array),
  copy(target, at, vector, from, to) {
    const bits = viewOf(Uint16Array, bufferOf(vector, 1), vector.offset + from, to - from);
    for (let index = 0; index < bits.length; index++) target[at + index] = halfFloat(bits[index] as number);
  },
};

/** Null for types that never become a typed array. */
export function numericColumn(type: DataType, options: ValueOptions, column: string): NumericColumn | null {
  switch (type.kind) {
    case "int":
      switch (type.bits) {
        case 8:
          return type.signed ? direct(Int8Array) : direct(Uint8Array);
        case 16:
          return type.signed ? direct(Int16Array) : direct(Uint16Array);
        case 32:
          return type.signed ? direct(Int32Array) : direct(Uint32Array);
        case 64:
          if (options.int64 === "bigint") return type.signed ? direct(BigInt64Array) : direct(BigUint64Array);
          return wideIntegers(type.signed, column);
      }
      break;
    case "float":
      if (type.bits === 16) return halfFloats;
      return type.bits === 32 ? direct(Float32Array) : direct(Float64Array);
    case "decimal":
      return options.decimal === "string" ? null : decimals(type.bits / 32, type.scale);
  }
  return null;
}
