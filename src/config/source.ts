/** Sources of values, and errors that name them. */
import { inspect } from "node:util";
import { OptionError } from "../errors/index.ts";
import { nearest } from "../units/index.ts";
import { BrokenJson } from "./kinds.ts";
import { SCHEMA } from "./schema.ts";
import { type Group, leaves, Setting } from "./setting.ts";

export interface Source {
  readonly kind: "file" | "variable" | "code" | "option";
  /** "~/.config/spillway/spillway.yaml:3", "SPILLWAY_WORKERS", "session", "--workers". */
  readonly name: string;
}

/** A given value, not yet checked. */
export interface Entry {
  readonly path: string;
  readonly setting: Setting;
  readonly value: unknown;
  readonly source: Source;
}

/** The value, or an error that says what is allowed. */
export function checked({ path, setting, value, source }: Entry): unknown {
  const { kind } = setting;
  if (kind.onlyInCode && source.kind !== "code") {
    throw new OptionError(`${source.name}: ${path} can be given in code only.`);
  }
  if (value instanceof BrokenJson) {
    const said = kind.isSecret
      ? "the value begins like JSON but is not valid JSON"
      : `${JSON.stringify(value.text)} begins like JSON but is not valid JSON: ${value.why}`;
    throw new OptionError(`${source.name}: ${path} must be ${kind.allowed}; ${said}.`);
  }
  const good = kind.read(value);
  if (good !== undefined) return good;
  const meant = kind.meant?.(value) ?? null;
  const hint = meant === null ? "" : ` Did you mean ${JSON.stringify(meant)}?`;
  throw new OptionError(
    `${source.name}: ${path} must be ${kind.allowed}, not ${kind.isSecret ? kindOf(value) : shown(value)}.${hint}`,
  );
}

/** Describes a secret without its values. */
function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object" || value === null) return value === null ? "null" : `a ${typeof value}`;
  return `an object with ${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)} (${one === null ? "null" : typeof one})`)
    .join(", ")}`;
}

/** `place` is the path of the group that was searched; "" is the outermost group. */
export function unknownKey(key: string, place: string, group: Group, source: Source): OptionError {
  const known = Object.keys(group);
  const path = place === "" ? key : `${place}.${key}`;
  const meant = nested(key, place) ?? quoted(meantPath(key, place, known));
  const hint = meant === null ? "" : ` Did you mean ${meant}?`;
  return new OptionError(`${source.name}: there is no option "${path}".${hint} Options: ${known.join(", ")}.`);
}

/** The same for a whole path. The part of it that exists is taken as correct, and the error is about the rest. */
export function unknownPath(path: string, source: Source): OptionError {
  const keys = path.split(".");
  const place: string[] = [];
  let group: Group = SCHEMA;
  for (const key of keys) {
    const node = Object.hasOwn(group, key) ? group[key] : undefined;
    if (node === undefined || node instanceof Setting) break;
    place.push(key);
    group = node;
  }
  const rest = keys.slice(place.length).join(".");
  if (rest !== "") return unknownKey(rest, place.join("."), group, source);
  const inside = leaves(group, `${path}.`).map(([one]) => one);
  return new OptionError(`${source.name}: ${path} is a group of settings: ${inside.join(", ")}.`);
}

export function notAGroup(value: unknown, place: string, group: Group, source: Source): OptionError {
  const one = nearest(
    place,
    Object.keys(SCHEMA).filter((key) => key !== place),
  );
  const hint = one === null ? "" : ` Did you mean "${one}"?`;
  return new OptionError(
    `${source.name}: ${place} must be an object with some of ${Object.keys(group).join(", ")}, not ${shown(value)}.${hint}`,
  );
}

/**
 * The nearest neighbour in the group. Else the only setting with this name, or nearly this name, in another group. For
 * a key with dots: the nearest path.
 */
function meantPath(key: string, place: string, known: readonly string[]): string | null {
  const prefix = place === "" ? "" : `${place}.`;
  const sibling = nearest(key, known);
  if (sibling !== null) return prefix + sibling;
  const all = leaves(SCHEMA).map(([path]) => path);
  // Only a key with dots is compared with whole paths: a single key would look like every path of its own group.
  if (key.includes(".")) return nearest(prefix + key, all);
  const name = (path: string) => path.split(".").at(-1) ?? path;
  const meant = nearest(key, all.map(name));
  const named = all.filter((path) => name(path) === meant);
  return named.length === 1 ? (named[0] ?? null) : null;
}

/** "worker.memory.target" in the form of an object: "{ worker: { memory: { target: … } } }". */
function nested(key: string, place: string): string | null {
  const [first = "", ...rest] = key.split(".");
  if (rest.length === 0 || place !== "" || !Object.hasOwn(SCHEMA, first)) return null;
  return [first, ...rest].reduceRight((inner, name) => `{ ${name}: ${inner} }`, "…");
}

function quoted(path: string | null): string | null {
  return path === null ? null : `"${path}"`;
}

/**
 * As it would be written in code. Values that JSON does not have (NaN, 10n, a function, a cycle) are printed as Node
 * does.
 */
function shown(value: unknown): string {
  const isOdd = typeof value === "number" ? !Number.isFinite(value) : !/^(string|boolean|object)$/.test(typeof value);
  if (isOdd) return typeof value === "bigint" ? `${value}n` : String(value);
  try {
    return JSON.stringify(value);
  } catch {
    return inspect(value, { depth: 1, breakLength: Number.POSITIVE_INFINITY });
  }
}
