/** Checks of arguments and options. An error names what was given, what is allowed, and the most similar name. */
import { OptionError } from "../errors/index.ts";
import { checkText } from "../plan/index.ts";
import { nearest } from "../units/index.ts";

export function checkKeys(operator: string, options: object, known: readonly string[]): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new OptionError(`${operator}: options must be an object, not ${describe(options)}.`);
  }
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const hint = nearest(key, known);
    const meant = hint === null ? "" : ` Did you mean "${hint}"?`;
    throw new OptionError(`${operator}: there is no option "${key}".${meant} Options: ${known.join(", ")}.`);
  }
}

export function positiveInteger(operator: string, name: string, value: unknown, or = ""): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  throw new OptionError(`${operator}: ${name} is ${describe(value)}; it must be a whole number above 0${or}.`);
}

export function wholeNumber(operator: string, name: string, value: unknown): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
  throw new OptionError(`${operator}: ${name} is ${describe(value)}; it must be a whole number from 0 to 2^53 - 1.`);
}

/** The seed as given, or a random one. */
export function seedOf(operator: string, seed: unknown): number {
  return seed === undefined ? Math.floor(Math.random() * 2 ** 31) : wholeNumber(operator, "seed", seed);
}

/** An amount that may have a fraction, down to a ten-thousandth. */
export function amount(operator: string, name: string, value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value) && (value === 0 || value >= 0.0001)) {
    return Math.round(value * 10_000) / 10_000;
  }
  throw new OptionError(`${operator}: ${name} is ${describe(value)}; it must be 0, or a number of at least 0.0001.`);
}

export function oneOf<T extends string>(operator: string, name: string, value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((each) => each === value);
  if (found !== undefined) return found;
  const hint = typeof value === "string" ? nearest(value, allowed) : null;
  const meant = hint === null ? "" : ` Did you mean "${hint}"?`;
  const each = allowed.map((one) => (/\w/.test(one) ? one : JSON.stringify(one))).join(", ");
  throw new OptionError(`${operator}: ${name} is ${describe(value)}; it must be one of ${each}.${meant}`);
}

export function text(operator: string, name: string, value: unknown): string {
  if (typeof value === "string" && value !== "") return checkText(value, `${operator}: ${name}`);
  throw new OptionError(`${operator}: ${name} is ${describe(value)}; it must be a non-empty text.`);
}

export function textList(operator: string, name: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw new OptionError(
      `${operator}: ${name} must be a list of column names, such as ["id"], not ${describe(value)}.`,
    );
  }
  const names = value.map((item) => text(operator, `an item of ${name}`, item));
  const twice = names.find((each, i) => names.indexOf(each) !== i);
  if (twice !== undefined) throw new OptionError(`${operator}: ${name} names "${twice}" twice.`);
  return names;
}

/** The key under which an object has its name for messages. */
export const SHOWN: unique symbol = Symbol("shown");

export function describe(value: unknown): string {
  if (typeof value === "object" && value !== null && SHOWN in value) return String(value[SHOWN]);
  if (typeof value === "string") return JSON.stringify(value);
  // JSON has neither NaN nor Infinity.
  if (typeof value === "number" || typeof value === "boolean" || value === null || value === undefined) {
    return String(value);
  }
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return `an array of ${value.length}`;
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** The given options among `keys`. */
export function only<T extends object, K extends keyof T>(options: T, keys: readonly K[]): Pick<T, K> {
  const picked: Partial<Pick<T, K>> = {};
  for (const key of keys) if (options[key] !== undefined) picked[key] = options[key];
  return picked as Pick<T, K>;
}
