/** Settings as options of the command line: `--worker.memory.target 0.5`, `--workers=2`, `--eager`. */
import { OptionError } from "../errors/index.ts";
import { SCHEMA } from "./schema.ts";
import { leaves, type Setting } from "./setting.ts";
import { type Entry, unknownPath } from "./source.ts";

export function entriesOfArguments(words: readonly string[]): Entry[] {
  const settings = new Map(leaves(SCHEMA));
  const entries: Entry[] = [];
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [, path = "", inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (path === "") {
      throw new OptionError(
        `"${word}" is no option: settings are given as --worker.memory.target 0.5, or --workers=2.`,
      );
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

/** A flag without a value means `true`. */
function alone(path: string, { kind }: Setting): string {
  if (kind.read(true) === true) return "true";
  throw new OptionError(`--${path}: ${path} must be ${kind.allowed}, and nothing follows it.`);
}
