/**
 * The settings in force: defaults, then the file, then variables, then code, then the command line; a later source
 * wins, setting by setting. Every given value is checked, even if a later source overrules it. Nothing is read before
 * the first use.
 */
import { OptionError } from "../errors/index.ts";
import { entriesOfArguments, wordsOfRun } from "./arguments.ts";
import { configFile, entriesOfFile } from "./file.ts";
import { SCHEMA, type Settings } from "./schema.ts";
import type { SessionOptions } from "./session-options.ts";
import { leaves, valuesOf } from "./setting.ts";
import { checked, type Source } from "./source.ts";
import { checkThresholds } from "./thresholds.ts";
import { entriesOf } from "./tree.ts";
import { type Environment, entriesOfVariables } from "./variables.ts";

export interface Config {
  readonly values: Settings;
  /** The settings in force by path. */
  readonly inForce: ReadonlyMap<string, unknown>;
  /** Source of each value that is not a default, by path. */
  readonly sources: ReadonlyMap<string, Source>;
  /** The source that an error about the value of a path should name. */
  said(path: string): string;
}

interface Places {
  readonly code?: SessionOptions;
  readonly arguments?: readonly string[];
  readonly environment?: Environment;
}

export function readConfig({ code = {}, arguments: words = [], environment = process.env }: Places = {}): Config {
  if (typeof code !== "object" || code === null || Array.isArray(code)) {
    throw new OptionError(
      `session: the options must be an object such as { workers: 2 }, not ${JSON.stringify(code)}.`,
    );
  }
  const entries = [
    ...entriesOfFile(configFile(environment)),
    ...entriesOfVariables(environment),
    ...entriesOf(code, () => ({ kind: "code", name: "session" })),
    ...entriesOfArguments([...wordsOfRun(environment), ...words]),
  ];
  const given = new Map(entries.map((entry) => [entry.path, checked(entry)]));
  const sources = new Map(entries.map(({ path, source }) => [path, source]));
  const inForce = new Map(leaves(SCHEMA).map(([path, { fallback }]) => [path, given.get(path) ?? fallback]));
  const values = valuesOf(SCHEMA, (path) => inForce.get(path));
  checkThresholds(values.worker.memory, sources);
  return { values, inForce, sources, said: (path) => sources.get(path)?.name ?? "session" };
}
