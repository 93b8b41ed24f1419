/** `spillway types data/*.parquet`: the row type of files, as TypeScript. */
import type { ValueOptions } from "../arrow/index.ts";
import { OptionError } from "../errors/index.ts";
import { type Session, session } from "../session/index.ts";
import { rowInterface } from "./row-type.ts";

type Format = "parquet" | "csv" | "json" | "arrow";

const EXTENSIONS: ReadonlyMap<string, Format> = new Map<string, Format>([
  ["parquet", "parquet"],
  ["csv", "csv"],
  ["tsv", "csv"],
  ["json", "json"],
  ["jsonl", "json"],
  ["ndjson", "json"],
  ["arrow", "arrow"],
  ["arrows", "arrow"],
  ["feather", "arrow"],
  ["ipc", "arrow"],
]);

/** Allowed values of each option; null: any name. */
const OPTIONS = {
  name: null,
  format: ["parquet", "csv", "json", "arrow"],
  int64: ["number", "bigint"],
  decimal: ["number", "string"],
  timestamp: ["date", "bigint"],
} as const;
type OptionName = keyof typeof OPTIONS;

export async function types(words: readonly string[]): Promise<string> {
  const { paths, options } = read(words);
  const { name = "Row", format = formatOf(paths) } = options;
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new OptionError(`types: "${name}" is not a valid type name (--name).`);
  const s = session({ workers: 1, progress: false });
  try {
    const { columns } = await opened(s, format, paths).schema();
    const [first, ...more] = paths;
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    return `/** Rows of ${first}${others}. Made by \`spillway types\`. */\n${rowInterface(name, columns, valuesOf(options))}`;
  } finally {
    await s.close();
  }
}

function opened(s: Session, format: string, paths: readonly string[]) {
  switch (format) {
    case "csv":
      return s.readCsv(paths);
    case "json":
      return s.readJson(paths);
    case "arrow":
      return s.readArrow(paths);
    default:
      return s.readParquet(paths);
  }
}

function valuesOf({ int64, decimal, timestamp }: Partial<Record<OptionName, string>>): ValueOptions {
  return {
    ...(int64 === "bigint" ? { int64 } : {}),
    ...(decimal === "string" ? { decimal } : {}),
    ...(timestamp === "bigint" ? { timestamp } : {}),
  };
}

function read(words: readonly string[]): { paths: string[]; options: Partial<Record<OptionName, string>> } {
  const paths: string[] = [];
  const options: Partial<Record<OptionName, string>> = {};
  const left = [...words];
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    const [, key, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (key === undefined) paths.push(word);
    else if (!isOption(key)) {
      throw new OptionError(`types: there is no option --${key}. Options: --${Object.keys(OPTIONS).join(", --")}.`);
    } else options[key] = checked(key, inline ?? left.shift());
  }
  if (paths.length === 0)
    throw new OptionError("types: give the files, for example: spillway types data/*.parquet > rows.ts");
  return { paths, options };
}

function isOption(key: string): key is OptionName {
  return Object.hasOwn(OPTIONS, key);
}

function checked(key: OptionName, value: string | undefined): string {
  const allowed: readonly string[] | null = OPTIONS[key];
  if (value !== undefined && (allowed === null || allowed.includes(value))) return value;
  const given = value === undefined ? "nothing follows it" : `not "${value}"`;
  throw new OptionError(`types: --${key} is ${allowed?.join(" or ") ?? "the name of the type"}, ${given}.`);
}

function formatOf(paths: readonly string[]): Format {
  for (const path of paths) {
    const [, extension = ""] = /\.([a-z]+)(?:\.(?:gz|zst))?$/i.exec(path) ?? [];
    const format = EXTENSIONS.get(extension.toLowerCase());
    if (format !== undefined) return format;
  }
  throw new OptionError(`types: the format of ${paths[0]} is unknown. Give it: --format parquet, csv, json or arrow.`);
}
