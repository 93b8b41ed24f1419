/**
 * The user's settings in YAML: `~/.config/spillway/spillway.yaml`, or the file that SPILLWAY_CONFIG names. The YAML
 * parser is loaded only if there is text to parse, so that programs without a file start faster.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Document } from "yaml";
import { OptionError } from "../errors/index.ts";
import { codeOf, messageOf } from "../realm/index.ts";
import type { Entry } from "./source.ts";
import { entriesOf } from "./tree.ts";
import { CONFIG_VARIABLE, type Environment } from "./variables.ts";

type Yaml = typeof import("yaml");

interface ConfigFile {
  readonly path: string;
  /** SPILLWAY_CONFIG names the file: a missing file is then an error. */
  readonly named: boolean;
}

export function configFile(environment: Environment): ConfigFile {
  const named = environment[CONFIG_VARIABLE] ?? "";
  if (named !== "") return { path: named, named: true };
  const root = environment.XDG_CONFIG_HOME || join(homedir(), ".config");
  return { path: join(root, "spillway", "spillway.yaml"), named: false };
}

export function entriesOfFile(file: ConfigFile): Entry[] {
  const text = textOf(file);
  return text.trim() === "" ? [] : parsed(text, file.path);
}

function textOf({ path, named }: ConfigFile): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const missing = ["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "");
    if (missing && !named) return "";
    const why = messageOf(error);
    const remedy = named ? `${CONFIG_VARIABLE} names this file: set it to a file that exists, or unset it.` : "";
    throw new OptionError(`${path}: the configuration cannot be read: ${why}. ${remedy}`.trim());
  }
}

function parsed(text: string, path: string): Entry[] {
  // `require`, because a session is made synchronously, and `import` is asynchronous.
  const yaml: Yaml = createRequire(import.meta.url)("yaml");
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const at = (offset: number | undefined) => (offset === undefined ? path : `${path}:${lines.linePos(offset).line}`);
  const [error] = document.errors;
  if (error?.code === "DUPLICATE_KEY") throw twice(at(error.pos[0]), text.slice(error.pos[0]));
  if (error !== undefined) throw noYaml(at(error.pos[0]), error.message);
  const { contents } = document;
  const isEmpty = contents === null || (yaml.isScalar(contents) && contents.value === null);
  if (!isEmpty && !yaml.isMap(contents)) {
    throw new OptionError(`${path}: the configuration must be settings by name, such as "workers: 2".`);
  }
  return entriesOf(plain(document, path), (keys) => ({ kind: "file", name: at(offsetOf(yaml, document, keys)) }));
}

function plain(document: Document, path: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias without an anchor, or more aliases than the parser allows.
    throw noYaml(path, messageOf(error));
  }
}

/** `rest`: the text from the key on. */
function twice(where: string, rest: string): OptionError {
  const [key = ""] = /^[^\s:]+/.exec(rest) ?? [];
  return new OptionError(`${where}: ${key} is given a second time. Give each setting once in a file.`);
}

function noYaml(where: string, why: string): OptionError {
  return new OptionError(`${where}: the configuration is not valid YAML: ${why}`);
}

/** Offset of the last key in the text. */
function offsetOf(yaml: Yaml, document: Document, keys: readonly string[]): number | undefined {
  let node: unknown = document.contents;
  let offset: number | undefined;
  for (const key of keys) {
    if (yaml.isAlias(node)) node = node.resolve(document);
    const pair = yaml.isMap(node)
      ? node.items.find((item) => String(yaml.isScalar(item.key) ? item.key.value : item.key) === key)
      : undefined;
    if (yaml.isNode(pair?.key)) offset = pair.key.range?.[0];
    node = pair?.value;
  }
  return offset;
}
