/** Sinks of instants, durations and bytes of fixed width: a value becomes a few 32-bit words. */

import { isDate, isUint8Array } from "../../realm/index.ts";
import { layoutOf } from "../layout.ts";
import type { DataType, TimeUnit, Vector } from "../types.ts";
import { isPlain } from "./infer.ts";
import { isoDay, isoInstant } from "./iso-text.ts";
import { misfit, type Place, unfit } from "./misfit.ts";
import { bytesOf, enlarged, leaf, NullFlags, type Sink } from "./sink.ts";

/** Writes the words of one value at `at`; throws if the value does not fit. */
type Encode = (words: Int32Array, at: number, value: unknown) => void;

class WordSink implements Sink {
  private readonly nulls = new NullFlags();
  private words = new Int32Array(0);
  constructor(
    readonly type: DataType,
    private readonly size: number,
    private readonly encode: Encode,
  ) {}
  write(index: number, value: unknown): void {
    const at = index * this.size;
    if (at + this.size > this.words.length) {
      this.words = enlarged(Int32Array, this.words, at + this.size, (target, source) => target.set(source));
    }
    if (value === null || value === undefined) {
      this.words.fill(0, at, at + this.size);
      this.nulls.setNull(index);
    } else {
      this.encode(this.words, at, value);
      if (this.nulls.any) this.nulls.setValid(index);
    }
  }
  byteLength(length: number): number {
    return length * this.size * 4 + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    return leaf(this.type, length, this.nulls.finish(length), bytesOf(this.words, length, this.size * 4));
  }
}

/** A whole number within 2^53 as two words. */
function putNumber(words: Int32Array, at: number, value: number): void {
  const high = Math.floor(value / 4294967296);
  words[at] = value - high * 4294967296;
  words[at + 1] = high;
}

export function putBigint(words: Int32Array, at: number, value: bigint, size: number): void {
  let rest = value;
  for (let word = 0; word < size; word++) {
    words[at + word] = Number(BigInt.asIntN(32, rest));
    rest >>= 32n;
  }
}

function checkedBigint(place: Place, type: DataType, value: bigint, bits: number): bigint {
  if (BigInt.asIntN(bits, value) !== value) unfit(place, type, value, `it is past ${bits} bits`);
  return value;
}

function millisecondsOf(place: Place, type: DataType, date: Date): number {
  const milliseconds = date.getTime();
  if (Number.isNaN(milliseconds)) unfit(place, type, date, "it is no point in time");
  return milliseconds;
}

const DAY = 86_400_000;

export function dateSink(type: DataType & { readonly kind: "date" }, place: Place): Sink {
  const size = type.unit === "day" ? 1 : 2;
  return new WordSink(type, size, (words, at, value) => {
    if (isDate(value)) {
      const days = Math.floor(millisecondsOf(place, type, value) / DAY);
      if (size === 1) words[at] = days;
      else putNumber(words, at, days * DAY);
    } else if (typeof value === "bigint" && place.declared) {
      putBigint(words, at, checkedBigint(place, type, value, size * 32), size);
    } else if (typeof value === "string" && takesText(place)) {
      const days = isoDay(value) ?? unfit(place, type, value, 'text must be a date as in "2024-01-31"');
      if (size === 1) words[at] = days;
      else putNumber(words, at, days * DAY);
    } else misfit(place, type, value);
  });
}

/** False for a column that passes through a function: it contains what the input contained, which was not text. */
function takesText(place: Place): boolean {
  return place.declared && place.passed === null;
}

/** Units in a millisecond. Seconds are rounded down. */
const PER_MILLISECOND: Record<TimeUnit, number> = { s: 0.001, ms: 1, us: 1000, ns: 1_000_000 };

export function timestampSink(type: DataType & { readonly kind: "timestamp" }, place: Place): Sink {
  const factor = PER_MILLISECOND[type.unit];
  return new WordSink(type, 2, (words, at, value) => {
    if (isDate(value)) {
      const milliseconds = millisecondsOf(place, type, value);
      const units = type.unit === "s" ? Math.floor(milliseconds / 1000) : milliseconds * factor;
      if (Number.isSafeInteger(units)) putNumber(words, at, units);
      else putBigint(words, at, checkedBigint(place, type, BigInt(milliseconds) * BigInt(factor), 64), 2);
    } else if (typeof value === "bigint" && place.declared) {
      putBigint(words, at, checkedBigint(place, type, value, 64), 2);
    } else if (typeof value === "string" && takesText(place)) {
      putBigint(words, at, unitsOfText(place, type, value), 2);
    } else misfit(place, type, value);
  });
}

function unitsOfText(place: Place, type: DataType & { readonly kind: "timestamp" }, text: string): bigint {
  const { seconds, nanos } =
    isoInstant(text) ?? unfit(place, type, text, 'text must be a time as in "2024-01-31T12:00:00Z"');
  const perUnit = { s: 1e9, ms: 1e6, us: 1e3, ns: 1 }[type.unit];
  if (nanos % perUnit !== 0) unfit(place, type, text, "it is finer than the column");
  const units = BigInt(seconds) * BigInt(1e9 / perUnit) + BigInt(nanos / perUnit);
  return checkedBigint(place, type, units, 64);
}

/** Time of day and durations: a number means milliseconds, a bigint the column's own unit. */
export function spanSink(type: DataType & { readonly kind: "time" | "duration" }, place: Place): Sink {
  const size = type.kind === "time" && (type.unit === "s" || type.unit === "ms") ? 1 : 2;
  return new WordSink(type, size, (words, at, value) => {
    if (typeof value === "number") {
      const units = Math.round(type.unit === "s" ? value / 1000 : value * PER_MILLISECOND[type.unit]);
      if (!Number.isSafeInteger(units) || (size === 1 && (units | 0) !== units)) {
        unfit(place, type, value, "it takes milliseconds within its range, or bigints in its own unit");
      }
      if (size === 1) words[at] = units;
      else putNumber(words, at, units);
    } else if (typeof value === "bigint") {
      putBigint(words, at, checkedBigint(place, type, value, size * 32), size);
    } else misfit(place, type, value);
  });
}

export function intervalSink(type: DataType & { readonly kind: "interval" }, place: Place): Sink {
  const size = { yearMonth: 1, dayTime: 2, monthDayNano: 4 }[type.unit];
  const whole = (value: unknown, part: string): number => {
    if (typeof value === "number" && (value | 0) === value) return value;
    return unfit(place, type, value, `${part} takes a whole number of 32 bits`);
  };
  return new WordSink(type, size, (words, at, value) => {
    if (!isPlain(value)) misfit(place, type, value);
    const { months = 0, days = 0, nanos = 0 } = value;
    if (typeof nanos !== "bigint" && !(typeof nanos === "number" && Number.isSafeInteger(nanos))) {
      return unfit(place, type, nanos, "nanos takes a whole number within 2^53, or a bigint");
    }
    const rest = (part: unknown, name: string): void => {
      if (Number(part) !== 0) unfit(place, type, value, `this kind of interval has no ${name}`);
    };
    switch (type.unit) {
      case "yearMonth":
        rest(days, "days");
        rest(nanos, "nanos");
        words[at] = whole(months, "months");
        break;
      case "dayTime":
        rest(months, "months");
        words[at] = whole(days, "days");
        words[at + 1] = whole(Number(nanos) / 1_000_000, "nanos in whole milliseconds");
        break;
      case "monthDayNano":
        words[at] = whole(months, "months");
        words[at + 1] = whole(days, "days");
        putBigint(words, at + 2, checkedBigint(place, type, BigInt(nanos), 64), 2);
        break;
    }
  });
}

export class FixedBinarySink implements Sink {
  private readonly nulls = new NullFlags();
  private data = new Uint8Array(0);
  private readonly width: number;
  constructor(
    readonly type: DataType & { readonly kind: "fixedBinary" },
    private readonly place: Place,
  ) {
    const layout = layoutOf(type);
    this.width = layout.kind === "fixed" ? layout.width : 0;
  }
  write(index: number, value: unknown): void {
    const at = index * this.width;
    const end = at + this.width;
    if (end > this.data.length) {
      this.data = enlarged(Uint8Array, this.data, end, (target, source) => target.set(source));
    }
    if (value === null || value === undefined) {
      this.data.fill(0, at, end);
      this.nulls.setNull(index);
      return;
    }
    if (!isUint8Array(value)) misfit(this.place, this.type, value);
    if (value.byteLength !== this.width) {
      unfit(this.place, this.type, value, `it takes exactly ${this.width} bytes`);
    }
    this.data.set(value, at);
    if (this.nulls.any) this.nulls.setValid(index);
  }
  byteLength(length: number): number {
    return length * this.width + this.nulls.byteLength(length);
  }
  finish(length: number): Vector {
    return leaf(this.type, length, this.nulls.finish(length), bytesOf(this.data, length, this.width));
  }
}
