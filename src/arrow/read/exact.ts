/**
 * The slow but exact cases of turning Arrow values into JavaScript ones, called from generated code: integers past
 * 2^53, wide decimals, half floats, instants that a Date cannot represent.
 */
import { ValueError } from "../../errors/index.ts";

export function integerTooLarge(column: string, value: bigint): never {
  throw new ValueError(
    `Column "${column}" holds the integer ${value}, which a JavaScript number cannot hold exactly (past 2^53). ` +
      'Ask for bigints: int64: "bigint".',
    column,
  );
}

/** The 64-bit integer at `index`, from its 32-bit words. */
export function wideInteger(words: Int32Array, index: number, signed: boolean): bigint {
  const low = BigInt((words[2 * index] ?? 0) >>> 0);
  const high = words[2 * index + 1] ?? 0;
  return (BigInt(signed ? high : high >>> 0) << 32n) | low;
}

const LAST_INSTANT = 8.64e15;

export function dateOf(milliseconds: number, column: string): Date {
  if (!(milliseconds <= LAST_INSTANT && milliseconds >= -LAST_INSTANT)) {
    throw new ValueError(
      `Column "${column}" holds an instant that a Date cannot hold (infinity, or past the year 275760). ` +
        'Ask for bigints: timestamp: "bigint".',
      column,
    );
  }
  return new Date(milliseconds);
}

/** The unscaled integer of a decimal of `size` 32-bit words. */
export function unscaled(words: Int32Array, index: number, size: number): bigint {
  let value = BigInt(words[index * size + size - 1] ?? 0);
  for (let word = size - 2; word >= 0; word--) value = (value << 32n) | BigInt((words[index * size + word] ?? 0) >>> 0);
  return value;
}

export function decimalText(words: Int32Array, index: number, size: number, scale: number): string {
  const value = unscaled(words, index, size);
  if (scale <= 0) return (value * 10n ** BigInt(-scale)).toString();
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
  const at = digits.length - scale;
  return `${value < 0n ? "-" : ""}${digits.slice(0, at)}.${digits.slice(at)}`;
}

/** The nearest double to a decimal of any size. */
export function decimalNumber(words: Int32Array, index: number, size: number, scale: number): number {
  return Number(decimalText(words, index, size, scale));
}

export function halfFloat(bits: number): number {
  const sign = (bits & 0x8000) === 0 ? 1 : -1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
