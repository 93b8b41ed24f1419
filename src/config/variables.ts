/**
 * Settings in environment variables: SPILLWAY_WORKERS, SPILLWAY_WORKER__MEMORY__TARGET. A variable that names no
 * setting is an error; an empty variable counts as unset.
 */
import { OptionError } from "../errors/index.ts";
import { nearest } from "../units/index.ts";
import { SCHEMA } from "./schema.ts";
import { leaves } from "./setting.ts";
import type { Entry } from "./source.ts";

const PREFIX = "SPILLWAY_";
/** Names the configuration file; not a setting. */
export const CONFIG_VARIABLE = "SPILLWAY_CONFIG";
/** Options that `spillway run` was given, for the script that it starts; not a setting. */
export const RUN_VARIABLE = "SPILLWAY_RUN_SETTINGS";
/** Variables that only the tests of this project read. */
const TEST_PREFIX = "SPILLWAY_TEST_";

export type Environment = Readonly<Record<string, string | undefined>>;

export function variableOf(path: string): string {
  return PREFIX + path.replace(/[A-Z]/g, "_$&").replaceAll(".", "__").toUpperCase();
}

export function entriesOfVariables(environment: Environment): Entry[] {
  const settings = new Map(leaves(SCHEMA).map(([path, setting]) => [variableOf(path), { path, setting }]));
  return Object.entries(environment).flatMap(([name, text]): Entry[] => {
    if (!isSetting(name)) return [];
    const found = settings.get(name);
    if (found === undefined) throw unknownVariable(name, settable(settings));
    if (text === undefined || text === "") return [];
    const { path, setting } = found;
    return [{ path, setting, value: setting.kind.fromText(text), source: { kind: "variable", name } }];
  });
}

function isSetting(name: string): boolean {
  return name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && name !== CONFIG_VARIABLE && name !== RUN_VARIABLE;
}

/** Leaves out settings that can only be given in code: they cannot be advice for a variable. */
function settable(settings: ReadonlyMap<string, { readonly setting: Entry["setting"] }>): string[] {
  return [...settings].filter(([, { setting }]) => setting.kind.onlyInCode !== true).map(([name]) => name);
}

function unknownVariable(name: string, known: readonly string[]): OptionError {
  const inside = known.filter((one) => one.startsWith(`${name}__`));
  if (inside.length > 0) return new OptionError(`${name} names a group of settings: ${inside.join(", ")}.`);
  // Compare without the common prefix: with it, every short name would be near every other.
  const meant = nearest(withoutPrefix(name), [...known, CONFIG_VARIABLE].map(withoutPrefix));
  const hint = meant === null ? "" : ` Did you mean ${PREFIX}${meant}?`;
  return new OptionError(
    `${name}: there is no such variable.${hint} A variable that begins with ${PREFIX} must name a setting (${known.join(", ")}), or be ${CONFIG_VARIABLE}, the path of the configuration file.`,
  );
}

function withoutPrefix(variable: string): string {
  return variable.slice(PREFIX.length);
}
