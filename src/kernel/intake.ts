/**
 * Changes Arrow columns into columns that DuckDB reads correctly. Its conversion has holes, all of them observed:
 * fixed-size binary goes wrong after a null, day-time intervals are read as milliseconds, garbage under a null duration
 * overflows, dictionaries are converted again for every 2,048 rows, and half floats and 256-bit decimals are not
 * converted at all. Other columns pass through unchanged, without a copy.
 */
import {
  bitAt,
  childFields,
  copyBits,
  type DataType,
  layoutOf,
  type TimeUnit,
  type Vector,
  viewOf,
  withChildren,
} from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";
import { takeVector } from "./take.ts";

const WIDEST_DECIMAL = 38;

/** The type that is handed to DuckDB. */
export function acceptedType(type: DataType): DataType {
  switch (type.kind) {
    case "dictionary":
      return acceptedType(type.value);
    case "float":
      return type.bits === 16 ? { kind: "float", bits: 32 } : type;
    case "decimal":
      if (type.precision > WIDEST_DECIMAL) {
        throw new KernelError(
          `DECIMAL(${type.precision},${type.scale}) has more than the ${WIDEST_DECIMAL} digits that the kernel can hold. Convert the column to text or to a double first.`,
          "Not implemented",
        );
      }
      return type.bits === 128 ? type : { ...type, bits: 128 };
    case "fixedBinary":
      return { kind: "binary", large: false };
    case "interval":
      return { kind: "interval", unit: "monthDayNano" };
    case "duration":
      return { kind: "duration", unit: "us" };
    default: {
      const children = childFields(type);
      const accepted = children.map((field) => {
        const inner = acceptedType(field.type);
        return inner === field.type ? field : { ...field, type: inner };
      });
      return accepted.every((field, index) => field === children[index]) ? type : withChildren(type, accepted);
    }
  }
}

/** The column that is handed to DuckDB: the same object if nothing has to change. */
export function acceptedVector(vector: Vector): Vector {
  const { type } = vector;
  switch (type.kind) {
    case "dictionary": {
      if (vector.dictionary === null)
        throw new KernelError("A dictionary column came without its dictionary.", "Arrow");
      return acceptedVector(takeVector(vector, vector.dictionary));
    }
    case "float":
      return type.bits === 16 ? widenHalf(vector) : vector;
    case "decimal":
      return type.bits === 128 ? vector : resizeDecimal(vector, type.bits);
    case "fixedBinary":
      return looseBinary(vector, type.width);
    case "interval":
      return type.unit === "monthDayNano" ? vector : monthDayNano(vector, type.unit);
    case "duration":
      return type.unit === "us" ? withoutGarbage(vector) : microseconds(vector, type.unit);
    default: {
      if (vector.children.length === 0) return vector;
      const children = vector.children.map(acceptedVector);
      if (children.every((child, index) => child === vector.children[index])) return vector;
      return { ...vector, type: acceptedType(type), children };
    }
  }
}

function replaced(vector: Vector, data: readonly Uint8Array[]): Vector {
  const validity = vector.nullCount === 0 ? null : (vector.buffers[0] ?? null);
  let aligned: Uint8Array | null = null;
  if (validity !== null) {
    aligned = new Uint8Array((vector.length + 7) >>> 3);
    copyBits(aligned, 0, validity, vector.offset, vector.length);
  }
  return { ...vector, type: acceptedType(vector.type), offset: 0, buffers: [aligned, ...data] };
}

const bytesOf = (array: ArrayBufferView) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

function isValid(vector: Vector): (row: number) => boolean {
  const validity = vector.nullCount === 0 ? null : (vector.buffers[0] ?? null);
  return validity === null ? () => true : (row) => bitAt(validity, vector.offset + row);
}

function dataOf(vector: Vector): Uint8Array {
  return vector.buffers[1] ?? new Uint8Array(0);
}

function widenHalf(vector: Vector): Vector {
  const halves = viewOf(Uint16Array, dataOf(vector), vector.offset, vector.length);
  return replaced(vector, [bytesOf(Float32Array.from(halves, halfToNumber))]);
}

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

function resizeDecimal(vector: Vector, bits: 32 | 64 | 256): Vector {
  const wide = new BigInt64Array(2 * vector.length);
  if (bits === 256) {
    // The value has at most 38 digits, so the upper half contains only the sign.
    const words = viewOf(BigInt64Array, dataOf(vector), 4 * vector.offset, 4 * vector.length);
    for (let row = 0; row < vector.length; row++) wide.set(words.subarray(4 * row, 4 * row + 2), 2 * row);
  } else {
    const narrow =
      bits === 64
        ? viewOf(BigInt64Array, dataOf(vector), vector.offset, vector.length)
        : BigInt64Array.from(viewOf(Int32Array, dataOf(vector), vector.offset, vector.length), BigInt);
    for (let row = 0; row < vector.length; row++) {
      const value = narrow[row] ?? 0n;
      wide[2 * row] = value;
      wide[2 * row + 1] = value >> 63n;
    }
  }
  return replaced(vector, [bytesOf(wide)]);
}

function looseBinary(vector: Vector, width: number): Vector {
  const offsets = Int32Array.from({ length: vector.length + 1 }, (_, row) => row * width);
  const start = vector.offset * width;
  return replaced(vector, [bytesOf(offsets), dataOf(vector).subarray(start, start + vector.length * width)]);
}

function monthDayNano(vector: Vector, unit: "yearMonth" | "dayTime"): Vector {
  const parts = new DataView(new ArrayBuffer(16 * vector.length));
  if (unit === "yearMonth") {
    const months = viewOf(Int32Array, dataOf(vector), vector.offset, vector.length);
    for (let row = 0; row < vector.length; row++) parts.setInt32(16 * row, months[row] ?? 0, true);
  } else {
    const words = viewOf(Int32Array, dataOf(vector), 2 * vector.offset, 2 * vector.length);
    for (let row = 0; row < vector.length; row++) {
      parts.setInt32(16 * row + 4, words[2 * row] ?? 0, true);
      parts.setBigInt64(16 * row + 8, BigInt(words[2 * row + 1] ?? 0) * 1_000_000n, true);
    }
  }
  return replaced(vector, [bytesOf(parts)]);
}

const PER_SECOND: Readonly<Record<TimeUnit, bigint>> = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n };

function microseconds(vector: Vector, unit: TimeUnit): Vector {
  const values = viewOf(BigInt64Array, dataOf(vector), vector.offset, vector.length);
  const valid = isValid(vector);
  const result = values.map((value, row) => (valid(row) ? (value * PER_SECOND.us) / PER_SECOND[unit] : 0n));
  return replaced(vector, [bytesOf(result)]);
}

function withoutGarbage(vector: Vector): Vector {
  return vector.nullCount === 0 ? vector : microseconds(vector, "us");
}

/** Throws if DuckDB would read past the end of a buffer for values [start, start + length). */
export function checkBuffers(vector: Vector, start: number, length: number, column: string): void {
  const layout = layoutOf(vector.type);
  const end = start + length;
  const need = (index: number, bytes: number) => {
    const has = vector.buffers[index]?.byteLength ?? 0;
    if (has < bytes && length > 0) {
      throw new KernelError(
        `Column "${column}": a ${vector.type.kind} column of ${end} values needs ${bytes} bytes in buffer ${index}, but has ${has}. The Arrow data is damaged.`,
        "Arrow",
      );
    }
  };
  if (layout.kind === "none") return;
  if (vector.nullCount !== 0 && (vector.buffers[0] ?? null) !== null) need(0, (end + 7) >>> 3);
  if (layout.kind === "bits") need(1, (end + 7) >>> 3);
  if (layout.kind === "fixed") need(1, end * layout.width);
  if (layout.kind === "bytes" || layout.kind === "list") need(1, (end + 1) * (layout.large ? 8 : 4));
}
