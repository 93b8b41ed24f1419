/** Settings as options of the command line: `--worker.memory.target 0.5`, `--workers=2`, `--eager`. */
import { OptionError } from "../errors/index.ts";
import { messageOf } from "../realm/index.ts";
import { SCHEMA } from "./schema.ts";
import { leaves, type Setting } from "./setting.ts";
import { type Entry, unknownPath } from "./source.ts";
import { type Environment, RUN_VARIABLE } from "./variables.ts";

export function entriesOfArguments(words: readonly string[]): Entry[] {
  const settings = new Map(leaves(SCHEMA));
  const entries: Entry[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [, path = "", inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (path === "") {
      throw new OptionError(`"${word}" is not an option. Give a setting as --worker.memory.target 0.5 or --workers=2.`);
    }
    const source = { kind: "option", name: `--${path}` } as const;
    const setting = settings.get(path);
    if (setting === undefined) throw unknownPath(path, source);
    const follows = inline === undefined && left[0]?.startsWith("--") === false;
    const text = (follows ? left.shift() : inline) ?? alone(path, setting);
    entries.push({ path, setting, value: setting.kind.fromText(text), source });
  }
  return entries;
}

/** The error about an option that is not a setting. It suggests the nearest setting. */
export function unknownOption(word: string): OptionError {
  return unknownPath(word.replace(/^--/, ""), { kind: "option", name: word });
}

/** A flag without a value means `true`. */
function alone(path: string, { kind }: Setting): string {
  if (kind.read(true) === true) return "true";
  throw new OptionError(`--${path}: ${path} must be ${kind.allowed}, but no value follows it.`);
}

/** For the environment of a script that `spillway run` starts: the settings of its command line. */
export function runVariable(words: readonly string[]): Readonly<Record<string, string>> {
  return words.length === 0 ? {} : { [RUN_VARIABLE]: JSON.stringify(words) };
}

/** The settings with which `spillway run` has started this program. */
export function wordsOfRun(environment: Environment): readonly string[] {
  const text = environment[RUN_VARIABLE];
  if (text === undefined || text === "") return [];
  try {
    const words: unknown = JSON.parse(text);
    if (Array.isArray(words) && words.every((word) => typeof word === "string")) return words;
  } catch (error) {
    throw new OptionError(
      `${RUN_VARIABLE} is not valid JSON: ${messageOf(error)}. Unset it: only \`spillway run\` sets it.`,
    );
  }
  throw new OptionError(`${RUN_VARIABLE} must be a JSON list of texts. Unset it: only \`spillway run\` sets it.`);
}
