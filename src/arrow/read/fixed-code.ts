/**
 * Source text for reading one value of a fixed-width type: a view of the bytes, and an expression over it. The code is
 * generated, because a column's type is known before its rows are, and reading rows is the hot path.
 */
import type { DataType, TimeUnit, ValueOptions } from "../types.ts";

interface FixedCode {
  /** The typed array that the expression reads. */
  readonly view: string;
  /** Elements of the typed array per value. */
  readonly each: number;
  /** The value at index `i` of the array `a`; `t` is a scratch variable, `column` a string literal. */
  expression(a: string, i: string, t: string, column: string): string;
}

const MAX = "9007199254740991";

/** A signed 64-bit integer as a double, rounded past 2^53. */
const long = (a: string, i: string): string => `(${a}[2*${i}+1]*4294967296+(${a}[2*${i}]>>>0))`;

function plain(view: string): FixedCode {
  return { view, each: 1, expression: (a, i) => `${a}[${i}]` };
}

function longCode(signed: boolean): FixedCode {
  return {
    view: "Int32Array",
    each: 2,
    expression(a, i, t, column) {
      const high = signed ? `${a}[2*${i}+1]` : `(${a}[2*${i}+1]>>>0)`;
      const value = `${high}*4294967296+(${a}[2*${i}]>>>0)`;
      const tooLarge = `run.integerTooLarge(${column},run.wideInteger(${a},${i},${signed}))`;
      return `((${t}=${value})<=${MAX}&&${t}>=-${MAX}?${t}:${tooLarge})`;
    },
  };
}

/**
 * 10^22 is the largest power of ten that a double represents exactly. Up to it, and up to 2^53, one division is rounded
 * correctly.
 */
const EXACT_SCALE = 22;

function decimalCode(bits: number, scale: number, asText: boolean): FixedCode {
  const size = bits / 32;
  const slow = (a: string, i: string): string => `run.decimalNumber(${a},${i},${size},${scale})`;
  return {
    view: "Int32Array",
    each: size,
    expression(a, i, t) {
      if (asText) return `run.decimalText(${a},${i},${size},${scale})`;
      if (scale < 0 || scale > EXACT_SCALE || size > 4) return slow(a, i);
      const power = `1e${scale}`;
      if (size === 1) return `${a}[${i}]/${power}`;
      const low = `${a}[${size}*${i}]`;
      const high = `${a}[${size}*${i}+1]`;
      const fits = size === 2 ? "" : `${a}[4*${i}+2]===${high}>>31&&${a}[4*${i}+3]===${high}>>31&&`;
      return `(${t}=${high}*4294967296+(${low}>>>0),${fits}${t}<=${MAX}&&${t}>=-${MAX}?${t}/${power}:${slow(a, i)})`;
    },
  };
}

/** Whole milliseconds, rounded down, exact for all 64-bit values: 2^32 is split into quotient and remainder. */
function instant(unit: TimeUnit, a: string, i: string): string {
  const high = `${a}[2*${i}+1]`;
  const low = `(${a}[2*${i}]>>>0)`;
  switch (unit) {
    case "s":
      return `${long(a, i)}*1000`;
    case "ms":
      return long(a, i);
    case "us":
      return `${high}*4294967+Math.floor((${high}*296+${low})/1000)`;
    case "ns":
      return `${high}*4294+Math.floor((${high}*967296+${low})/1000000)`;
  }
}

/** A duration in milliseconds, with its fraction. */
const MILLISECONDS: Record<TimeUnit, string> = { s: "*1000", ms: "", us: "/1000", ns: "/1000000" };

/** Null for types that no expression can read. */
export function fixedCode(type: DataType, options: ValueOptions): FixedCode | null {
  const bigints = options.timestamp === "bigint";
  switch (type.kind) {
    case "int":
      if (type.bits < 64) return plain(`${type.signed ? "Int" : "Uint"}${type.bits}Array`);
      if (options.int64 === "bigint") return plain(type.signed ? "BigInt64Array" : "BigUint64Array");
      return longCode(type.signed);
    case "float":
      if (type.bits === 16) return { view: "Uint16Array", each: 1, expression: (a, i) => `run.halfFloat(${a}[${i}])` };
      return plain(type.bits === 32 ? "Float32Array" : "Float64Array");
    case "decimal":
      return decimalCode(type.bits, type.scale, options.decimal === "string");
    case "date":
      if (type.unit === "day") {
        return {
          view: "Int32Array",
          each: 1,
          expression: (a, i, _, column) =>
            bigints ? `BigInt(${a}[${i}])` : `run.dateOf(${a}[${i}]*86400000,${column})`,
        };
      }
      return instantCode("ms", bigints);
    case "timestamp":
      return instantCode(type.unit, bigints);
    case "time":
      if (type.unit === "s" || type.unit === "ms") {
        const suffix = MILLISECONDS[type.unit];
        return { view: "Int32Array", each: 1, expression: (a, i) => `${a}[${i}]${suffix}` };
      }
      return spanCode(type.unit);
    case "duration":
      return spanCode(type.unit);
    case "interval":
      return intervalCode(type.unit, options);
    default:
      return null;
  }
}

function instantCode(unit: TimeUnit, bigints: boolean): FixedCode {
  if (bigints) return plain("BigInt64Array");
  return {
    view: "Int32Array",
    each: 2,
    expression: (a, i, _, column) => `run.dateOf(${instant(unit, a, i)},${column})`,
  };
}

function spanCode(unit: TimeUnit): FixedCode {
  return { view: "Int32Array", each: 2, expression: (a, i) => `${long(a, i)}${MILLISECONDS[unit]}` };
}

function intervalCode(unit: "yearMonth" | "dayTime" | "monthDayNano", options: ValueOptions): FixedCode {
  const zero = options.int64 === "bigint" ? "0n" : "0";
  switch (unit) {
    case "yearMonth":
      return { view: "Int32Array", each: 1, expression: (a, i) => `{months:${a}[${i}],days:0,nanos:${zero}}` };
    case "dayTime": {
      const nanos = (a: string, i: string): string =>
        options.int64 === "bigint" ? `BigInt(${a}[2*${i}+1])*1000000n` : `${a}[2*${i}+1]*1000000`;
      return { view: "Int32Array", each: 2, expression: (a, i) => `{months:0,days:${a}[2*${i}],nanos:${nanos(a, i)}}` };
    }
    case "monthDayNano": {
      // The last eight of its sixteen bytes are a 64-bit integer, at position 2i+1 of such integers.
      const nanos = (a: string, i: string, t: string, column: string): string =>
        options.int64 === "bigint"
          ? `run.wideInteger(${a},2*${i}+1,true)`
          : longCode(true).expression(a, `(2*${i}+1)`, t, column);
      return {
        view: "Int32Array",
        each: 4,
        expression: (a, i, t, column) => `{months:${a}[4*${i}],days:${a}[4*${i}+1],nanos:${nanos(a, i, t, column)}}`,
      };
    }
  }
}
