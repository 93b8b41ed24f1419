/**
 * Sizes as people write them: a number of bytes, or "4 GiB" (2^32), "512 MB" (512·10^6). If `whole` is given, a number
 * in (0, 1] or "50%" is a share of it.
 */
import { OptionError } from "../errors/index.ts";
import type { Bytes } from "../protocol/index.ts";

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
};

interface SizeContext {
  /** What the size is for, used in errors. */
  readonly name: string;
  /** The base of fractions. Without it, fractions are refused. */
  readonly whole?: Bytes;
}

export function parseSize(value: number | string, context: SizeContext): Bytes {
  if (typeof value === "number") return sizeOfNumber(value, value, context);
  // JavaScript callers may pass anything.
  if (typeof value !== "string") throw refused(value, context);
  const match = /^\s*([0-9]*\.?[0-9]+(?:e[0-9]+)?)\s*(%|[a-z]*)\s*$/i.exec(value);
  if (match === null) throw refused(value, context);
  const amount = Number(match[1]);
  const unit = (match[2] ?? "").toLowerCase();
  if (unit === "%") return share(amount / 100, value, context);
  if (unit === "") return sizeOfNumber(amount, value, context);
  const factor = UNITS[unit];
  if (factor === undefined) throw refused(value, context);
  const bytes = Math.floor(amount * factor);
  if (!Number.isFinite(bytes)) throw refused(value, context);
  return bytes;
}

function sizeOfNumber(amount: number, value: number | string, context: SizeContext): Bytes {
  if (!Number.isFinite(amount) || amount < 0) throw refused(value, context);
  if (amount > 0 && amount <= 1) return share(amount, value, context);
  return Math.floor(amount);
}

function share(fraction: number, value: number | string, context: SizeContext): Bytes {
  if (fraction <= 0 || fraction > 1) throw refused(value, context);
  if (context.whole === undefined) throw noShare(value, context);
  return Math.floor(fraction * context.whole);
}

function refused(value: unknown, { name, whole }: SizeContext): OptionError {
  const fractions = whole === undefined ? "" : ', or a fraction (0.5, "50%")';
  return new OptionError(
    `${name}: ${shown(value)} is not a size. Give a number of bytes, or a string such as "4 GiB" or "512 MB"${fractions}.`,
  );
}

function noShare(value: number | string, { name }: SizeContext): OptionError {
  const meant = typeof value === "number" ? ` (${value} GiB is "${value} GiB")` : "";
  return new OptionError(
    `${name}: ${shown(value)} is a share of the machine, which only settings of a session can be. Here it must be a number of bytes above 1, or a string such as "4 GiB" or "512 MB"${meant}.`,
  );
}

/** JSON would print NaN as null. */
function shown(value: unknown): string {
  return typeof value === "string" || (typeof value === "object" && value !== null)
    ? JSON.stringify(value)
    : String(value);
}

export function formatSize(bytes: Bytes): string {
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let amount = bytes;
  let unit = 0;
  while (Math.abs(amount) >= 1024 && unit < names.length - 1) {
    amount /= 1024;
    unit++;
  }
  const digits = unit === 0 || Math.abs(amount) >= 100 ? 0 : 1;
  return `${amount.toFixed(digits)} ${names[unit] ?? ""}`;
}
