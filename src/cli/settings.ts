/** Settings as options of a command: `--worker.memory.target 0.5`, `--memoryLimit 4GiB` or `--memory-limit 4GiB`. */
import { type Command, Option } from "commander";
import { leaves, SCHEMA, type Setting } from "../config/index.ts";

const SETTINGS = new Map(
  leaves(SCHEMA).flatMap(([path, setting]) => spellings(path).map((name) => [name, { path, setting }])),
);

/** The given settings as words that src/config reads. Call the returned function when the command runs. */
export function settingsOf(command: Command): () => string[] {
  const words: string[] = [];
  for (const [name, { path, setting }] of SETTINGS) {
    const option = new Option(`--${name} ${standsAlone(setting) ? "[value]" : "<value>"}`, aboutOf(setting)).hideHelp();
    option.argParser((value: string) => {
      words.push(`--${path}=${value}`);
      return value;
    });
    command.addOption(option);
  }
  return () => words;
}

/**
 * Gives every flag its value: a flag may come without one, and then the next word is not its value, as in `run --eager
 * script.ts`.
 */
export function flagsWithValues(words: readonly string[]): string[] {
  const said = [...words];
  for (let at = 0; at < said.length; at++) {
    const word = said[at] ?? "";
    const [, name, inline] = /^--([^=]+)(=.*)?$/s.exec(word) ?? [];
    if (name === undefined) return said;
    const setting = SETTINGS.get(name)?.setting;
    if (setting === undefined || inline !== undefined) continue;
    const hasValue = !standsAlone(setting) || /^(true|false|0|1)$/i.test(said[at + 1] ?? "");
    if (hasValue) at++;
    else said[at] = `${word}=true`;
  }
  return said;
}

/** Completion leaves out settings without a description. */
function aboutOf({ kind, about }: Setting): string {
  return kind.onlyInCode === true ? "" : about;
}

function standsAlone({ kind }: Setting): boolean {
  return kind.read(true) === true;
}

function spellings(path: string): string[] {
  const kebab = path.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return kebab === path ? [path] : [path, kebab];
}
