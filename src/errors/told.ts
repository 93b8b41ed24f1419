/**
 * Errors of the user's functions as plain data, so that everything reaches the program: name, message, stack, fields,
 * the errors of an AggregateError, and the chain of causes. Works even if reading the error throws.
 */
import { inspect } from "node:util";
import { isDate, isError, isPlainObject } from "../realm/index.ts";
import { errorClasses, type SpillwayError } from "./errors.ts";

interface ToldError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The fields as text: "code: 'ECONNREFUSED', port: 9". */
  readonly shown: string;
  readonly cause?: Told;
  readonly errors?: readonly Told[];
}

/** A thrown value, or a cause, need not be an error. */
export type Told = { readonly error: ToldError } | { readonly value: unknown };

const NOT_FIELDS: ReadonlySet<string> = new Set(["name", "message", "stack", "cause", "errors"]);
const MOST_FIELDS = 20;
const MOST_ERRORS = 10;
const DEEPEST = 10;
/** Length as JSON; a larger value is replaced by a short text. */
const LARGEST_FIELD = 10_000;

/** `mapStack` maps positions to the user's source. */
export function tell(thrown: unknown, mapStack: (stack: string) => string, above: readonly unknown[] = []): Told {
  if (!isError(thrown)) return { value: plain(thrown) };
  const seen = [...above, thrown];
  const next = (value: unknown) => tell(value, mapStack, seen);
  const isTold = (value: unknown) => value !== undefined && !seen.includes(value) && seen.length < DEEPEST;
  const cause = read(thrown, "cause");
  const errors = read(thrown, "errors");
  const stack = stackText(thrown);
  return {
    error: {
      name: textOf(read(thrown, "name"), "Error"),
      message: textOf(read(thrown, "message"), ""),
      stack: stack === null ? null : mapStack(stack),
      ...fieldsOf(thrown),
      ...(isTold(cause) ? { cause: next(cause) } : {}),
      ...(Array.isArray(errors) ? { errors: errors.filter(isTold).slice(0, MOST_ERRORS).map(next) } : {}),
    },
  };
}

/** Makes the error again, with its class if that is built in or ours. */
export function retold(told: Told): unknown {
  if (!("error" in told)) return told.value;
  const { name, message, stack, fields, cause, errors } = told.error;
  const error = make(name, message, errors);
  const hidden = (key: string, value: unknown) =>
    Object.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: false });
  if (error.name !== name) hidden("name", name);
  hidden("message", message);
  hidden("stack", stack ?? `${name}: ${message}`);
  if (cause !== undefined) hidden("cause", retold(cause));
  for (const [key, value] of Object.entries(fields)) {
    Object.defineProperty(error, key, { value, writable: true, configurable: true, enumerable: true });
  }
  return error;
}

/** The causes, one line each. */
export function causeLines(told: Told): readonly string[] {
  if (!("error" in told)) return [];
  const { cause, errors = [] } = told.error;
  const line = (title: string, one: Told) => [`  ${title}: ${headline(one)}`, ...causeLines(one)];
  return [
    ...errors.flatMap((one) => line("one of its errors", one)),
    ...(cause === undefined ? [] : line("caused by", cause)),
  ];
}

function headline(told: Told): string {
  if (!("error" in told)) return inspect(told.value, { depth: 2 });
  const { name, message, shown } = told.error;
  const said = message === "" ? name : `${name}: ${message}`;
  return shown === "" ? said : `${said} (${shown})`;
}

const BUILTIN = { Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError } as const;

function make(name: string, message: string, errors: readonly Told[] | undefined): Error {
  if (errors !== undefined) return new AggregateError(errors.map(retold), message);
  const known = errorClasses.get(name);
  if (known !== undefined) return Object.create(known.prototype) as SpillwayError;
  const Builtin = Object.entries(BUILTIN).find(([each]) => each === name)?.[1] ?? Error;
  return new Builtin(message);
}

/** `Error.prepareStackTrace` may have replaced the text, mostly by the list of frames. */
export function stackText(error: Error): string | null {
  const stack = read(error, "stack");
  if (typeof stack === "string") return stack;
  if (!Array.isArray(stack)) return null;
  const head = `${textOf(read(error, "name"), "Error")}: ${textOf(read(error, "message"), "")}`;
  return [head, ...stack.map((frame) => `    at ${String(frame)}`)].join("\n");
}

function fieldsOf(error: Error): Pick<ToldError, "fields" | "shown"> {
  const keys = Object.keys(error).filter((key) => !NOT_FIELDS.has(key));
  const found = keys.slice(0, MOST_FIELDS).map((key) => [key, read(error, key)] as const);
  const told = found.filter(([, value]) => typeof value !== "function" && value !== undefined);
  return {
    fields: Object.fromEntries(told.map(([key, value]) => [key, plain(value)])),
    shown: told.map(([key, value]) => `${key}: ${short(value)}`).join(", "),
  };
}

/** Null if reading throws. */
function read(error: Error, key: string): unknown {
  try {
    return Reflect.get(error, key) as unknown;
  } catch {
    return null;
  }
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

function short(value: unknown): string {
  const text = inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY, maxStringLength: 200 });
  return text.length > 500 ? `${text.slice(0, 500)}…` : text;
}

/** The value as JSON has it. */
function plain(value: unknown): unknown {
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (isDate(value)) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (typeof value === "object" && (isPlainObject(value) || Array.isArray(value))) {
    try {
      const text = JSON.stringify(value);
      if (text.length <= LARGEST_FIELD) return JSON.parse(text) as unknown;
    } catch {
      // Cycles and bigints become text.
    }
  }
  return short(value);
}
