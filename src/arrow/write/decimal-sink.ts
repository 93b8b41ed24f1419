/**
 * Decimals from numbers, bigints and text. Numbers that came out of a decimal are converted back by arithmetic alone.
 * Large numbers, and those near half of the last digit, are decided by their digits.
 */
import type { DataType, Vector } from "../types.ts";
import { parseDecimal } from "./decimal.ts";
import { putBigint } from "./fixed-sinks.ts";
import { misfit, type Place, unfit } from "./misfit.ts";
import { bytesOf, enlarged, leaf, NullFlags, type Sink } from "./sink.ts";

/** A product below this is off by less than an eighth of the last digit, whatever the power of ten. */
const EXACT_LIMIT = 2 ** 48;
const TWO_32 = 4294967296;

export class DecimalSink implements Sink {
  private readonly nulls = new NullFlags();
  private words = new Int32Array(0);
  /** 32-bit words of a value. */
  private readonly size: number;
  private readonly power: number;
  /** Arithmetic can decide values up to this. */
  private readonly reach: number;
  private readonly limit: bigint;
  constructor(
    readonly type: DataType & { readonly kind: "decimal" },
    private readonly place: Place,
  ) {
    this.size = type.bits / 32;
    this.power = 10 ** type.scale;
    this.reach = Math.min(EXACT_LIMIT, 10 ** type.precision);
    this.limit = 10n ** BigInt(type.precision);
  }
  write(index: number, value: unknown): void {
    const at = index * this.size;
    if (at + this.size > this.words.length) this.grow(at + this.size);
    if (typeof value === "number") {
      if (!this.put(at, value)) this.putDigits(at, value);
    } else if (value === null || value === undefined) {
      this.words.fill(0, at, at + this.size);
      this.nulls.setNull(index);
      return;
    } else this.putDigits(at, value);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  writeAll(index: number, values: ArrayLike<number>): boolean {
    const { size } = this;
    const end = index + values.length;
    if (end * size > this.words.length) this.grow(end * size);
    for (let from = 0, at = index * size; from < values.length; from++, at += size) {
      const value = values[from] as number;
      if (!this.put(at, value)) this.putDigits(at, value);
    }
    this.nulls.setAllValid(index, end);
    return true;
  }
  /** False if the product alone does not tell which whole number is meant. */
  private put(at: number, value: number): boolean {
    const { words, size, reach } = this;
    const scaled = value * this.power;
    const near = Math.round(scaled);
    if (!(near < reach && near > -reach && Math.abs(scaled - near) < 0.25)) return false;
    const high = Math.floor(near / TWO_32);
    words[at] = near - high * TWO_32;
    if (size === 1) return true;
    words[at + 1] = high;
    for (let word = 2; word < size; word++) words[at + word] = high >> 31;
    return true;
  }
  private putDigits(at: number, value: unknown): void {
    const { type, place, limit } = this;
    if (typeof value !== "number" && typeof value !== "bigint" && typeof value !== "string") {
      misfit(place, type, value);
    }
    const unscaled = parseDecimal(String(value), type.scale);
    if (unscaled === null) unfit(place, type, value, "it is no decimal number");
    if (unscaled >= limit || unscaled <= -limit) {
      const exact = place.passed !== null && typeof value === "number" ? ' (decimal: "string" keeps every digit)' : "";
      const why = `it has more than ${type.precision - type.scale} digits before the point${exact}`;
      unfit(place, type, value, why);
    }
    putBigint(this.words, at, unscaled, this.size);
  }
  byteLength(length: number): number {
    return length * this.size * 4 + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    return leaf(this.type, length, this.nulls.finish(length), bytesOf(this.words, length, this.size * 4));
  }
  private grow(needed: number): void {
    this.words = enlarged(Int32Array, this.words, needed, (target, source) => target.set(source));
  }
}
