/**
 * Kinds of values: what is allowed, in words, and the function that checks a value. Values keep the form in which they
 * were given ("4 GiB", "30s"); `src/session/` resolves sizes and shares, because it knows the machine.
 */
import { homedir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../realm/index.ts";
import { nearest, parseDuration, parseSize } from "../units/index.ts";

export interface Kind<T> {
  /** The name in the table of settings. */
  readonly name: string;
  /** The text after "must be". */
  readonly allowed: string;
  /** The value if it is allowed, else undefined. */
  read(value: unknown): T | undefined;
  /** The value that a text of a variable or of the command line stands for. */
  fromText(text: string): unknown;
  /** The allowed value that is nearest to a wrong one. */
  meant?(value: unknown): string | null;
  /** It cannot be written in a file or a variable. */
  readonly onlyInCode?: true;
  /** Its values may be passwords: errors do not quote them. */
  readonly isSecret?: true;
}

/** Bytes, "4 GiB", or a fraction of the machine (0.3, "30%"). */
export type Size = number | string;
/** Milliseconds, or "30s", "200ms", "2m". */
export type Duration = number | string;

/** Reads a text as YAML would. */
function scalar(text: string): unknown {
  const plain = text.trim();
  if (/^(true|True|TRUE|false|False|FALSE)$/.test(plain)) return plain.toLowerCase() === "true";
  return /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?$/i.test(plain) ? Number(plain) : plain;
}

function kind<T>(
  name: string,
  allowed: string,
  read: (value: unknown) => T | undefined,
  fromText: (text: string) => unknown = scalar,
): Kind<T> {
  return { name, allowed, read, fromText };
}

function secret<T>(...parts: Parameters<typeof kind<T>>): Kind<T> {
  return { ...kind(...parts), isSecret: true };
}

const SIZE_FORMS = 'a size (bytes, "4 GiB", or a share of the machine: 0.3, "30%")';
const FRACTION_FORMS = "a fraction above 0 and up to 1";

const readFlag = (value: unknown) => (typeof value === "boolean" ? value : undefined);
const readFalse = (value: unknown) => (value === false ? value : undefined);
const readFraction = (value: unknown) => (typeof value === "number" && value > 0 && value <= 1 ? value : undefined);

function readSize(value: unknown): Size | undefined {
  // Only the form is checked here; it does not depend on the whole.
  return parsable(value, (given) => parseSize(given, { name: "", whole: 1 }));
}

/** The value, if it is a number or a text that the parser accepts. */
function parsable(value: unknown, parse: (given: number | string) => unknown): number | string | undefined {
  if (typeof value !== "number" && typeof value !== "string") return undefined;
  try {
    parse(value);
    return value;
  } catch {
    return undefined;
  }
}

export const flag = kind("flag", "true or false", readFlag, (text) =>
  /^\s*[01]\s*$/.test(text) ? text.trim() === "1" : scalar(text),
);
export const fractionOrFalse = kind(
  "fraction or false",
  `${FRACTION_FORMS}, or false`,
  (value) => readFraction(value) ?? readFalse(value),
);
export const size = kind("size", SIZE_FORMS, readSize);
export const sizeOrFalse = kind(
  "size or false",
  `${SIZE_FORMS}, or false`,
  (value) => readSize(value) ?? readFalse(value),
);
/** A size that cannot be a share of the machine's memory. */
export const bytesOrFalse = kind('bytes, "1 MiB", or false', 'bytes, "1 MiB", or false', (value) => {
  return parsable(value, (given) => parseSize(given, { name: "" })) ?? readFalse(value);
});
export const memoryLimit = kind(
  'size, "auto", or 0 or false: none',
  `"auto", ${SIZE_FORMS}, or 0 or false for none`,
  (value): Size | false | undefined => (value === "auto" ? value : (readSize(value) ?? readFalse(value))),
);
export const duration = kind(
  "duration",
  'a duration (milliseconds, "30s", "200ms", "2m")',
  (value): Duration | undefined => parsable(value, (given) => parseDuration(given, "")),
);
/** At least 1 ms: an interval of 0 would never let anything else run. */
export const interval = kind(
  "duration from 1 ms",
  'a duration of 1 ms or more (milliseconds, "30s", "200ms", "2m")',
  (value): Duration | undefined => {
    const given = duration.read(value);
    return given !== undefined && parseDuration(given, "") >= 1 ? given : undefined;
  },
);

export function wholeNumber(least: number, of = "", most = Number.MAX_SAFE_INTEGER): Kind<number> {
  const upTo = most === Number.MAX_SAFE_INTEGER ? "" : ` and at most ${most}`;
  const allowed = `a whole number${of === "" ? "" : ` of ${of}`}, at least ${least}${upTo}`;
  return kind(`whole number from ${least}`, allowed, (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= least && value <= most ? value : undefined,
  );
}

/** The texts 1 and 0 are flags, as everywhere. */
export const portOrFlag = kind(
  "flag or port",
  "true, false or a port from 1 to 65535",
  (value): boolean | number | undefined => {
    if (typeof value === "boolean") return value;
    return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 65_535 ? value : undefined;
  },
  flag.fromText,
);

/** A number is always a count of cores, also 1; only a text can be a share. */
export const cores = kind(
  'number from 1, or "80%"',
  'a number of cores, at least 1, or a share such as "80%"',
  (value) => {
    if (typeof value === "number") return Number.isFinite(value) && value >= 1 ? value : undefined;
    const share = typeof value === "string" ? /^\s*([0-9]*\.?[0-9]+)\s*%\s*$/.exec(value) : null;
    const percent = Number(share?.[1]);
    return typeof value === "string" && percent > 0 && percent <= 100 ? value : undefined;
  },
);

export function choice<const C extends readonly string[]>(...choices: C): Kind<C[number]> {
  const named = choices.map((one) => JSON.stringify(one)).join(", ");
  return {
    name: named,
    allowed: `one of ${named}`,
    read: (value) => choices.find((one) => one === value),
    fromText: (text) => text.trim(),
    meant: (value) => (typeof value === "string" ? nearest(value, choices) : null),
  };
}

/** JSON, or parts with commas between them. A text that begins like JSON must be JSON: it cannot be a path. */
function listed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text.split(",").map((part) => part.trim());
  try {
    return JSON.parse(text);
  } catch (error) {
    return new BrokenJson(text, messageOf(error));
  }
}

/** Stands for a text that begins like JSON and is not; no kind accepts it. */
export class BrokenJson {
  constructor(
    readonly text: string,
    readonly why: string,
  ) {}
}

const readText = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);

function readList(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((one): one is string => readText(one) !== undefined);
  return texts.length === value.length ? texts : undefined;
}

export const texts = kind("list of texts", "a list of texts", readList, listed);

export const paths = kind(
  "path or list of paths",
  "a path or a list of paths",
  (value): string | readonly string[] | undefined => {
    const path = readText(value);
    if (path !== undefined) return inHome(path);
    const list = readList(value);
    return list?.length === 0 ? undefined : list?.map(inHome);
  },
  listed,
);

/** Expands `~`: configuration files get no expansion from a shell. */
function inHome(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

/** Numbers and flags become texts, because YAML authors rarely quote them. */
export const textByName = secret(
  "texts by name",
  'an object of texts ({ NAME: "value" })',
  (value): Readonly<Record<string, string>> | undefined => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    const entries = Object.entries(value).map(([name, one]) => [name, plainText(one)] as const);
    const good = entries.filter(
      (entry): entry is readonly [string, string] => /^[^=]+$/.test(entry[0]) && entry[1] !== undefined,
    );
    return good.length === entries.length ? Object.fromEntries(good) : undefined;
  },
  (text) => {
    const parts = listed(text);
    if (!Array.isArray(parts) || !parts.every((part) => String(part).includes("="))) return parts;
    return Object.fromEntries(
      parts.map((part) => {
        const [name = "", ...value] = String(part).split("=");
        return [name, value.join("=")];
      }),
    );
  },
);

function plainText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

/** For values that only code can give: objects with methods, functions. */
export function inCode<T>(name: string, allowed: string, read: (value: unknown) => T | undefined): Kind<T> {
  return { ...kind(name, allowed, read), onlyInCode: true };
}
