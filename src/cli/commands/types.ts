/** `spillway types data/*.parquet`: the row type of files, as TypeScript. */
import { type Command, Option } from "commander";
import type { ValueOptions } from "../../arrow/index.ts";
import { OptionError } from "../../errors/index.ts";
import { type Session, session } from "../../session/index.ts";
import { rowInterface } from "../row-type.ts";
import { printable, say } from "../terminal.ts";

const FORMATS = ["parquet", "csv", "json", "arrow"] as const;
type Format = (typeof FORMATS)[number];

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

interface Options extends ValueTexts {
  readonly name: string;
  readonly format?: Format;
}

interface ValueTexts {
  readonly int64?: string;
  readonly decimal?: string;
  readonly timestamp?: string;
}

const EXAMPLES = `
Examples:
  spillway types data/*.parquet > rows.ts
  spillway types trips.csv.gz --name Trip --int64 bigint
`;

export function define(command: Command): void {
  command
    .argument("[files...]", "Parquet, CSV, JSON or Arrow files")
    .option("--name <name>", "the name of the interface", "Row")
    .addOption(new Option("--format <format>", "if the names do not show it").choices(FORMATS))
    .addOption(new Option("--int64 <type>", "of 64-bit integers").choices(["number", "bigint"]))
    .addOption(new Option("--decimal <type>", "of decimals").choices(["number", "string"]))
    .addOption(new Option("--timestamp <type>", "of dates and timestamps").choices(["date", "bigint"]))
    .addHelpText("after", EXAMPLES)
    .action(async (paths: string[], options: Options) => say(await typesOf(paths, options)));
}

async function typesOf(paths: readonly string[], options: Options): Promise<string> {
  if (paths.length === 0) {
    throw new OptionError("types: give the files, for example: spillway types data/*.parquet > rows.ts");
  }
  const { name, format = formatOf(paths) } = options;
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new OptionError(`types: "${name}" is not a valid type name (--name).`);
  const s = session({ workers: 1, progress: false });
  try {
    const { columns } = await opened(s, format, paths).schema();
    const [first, ...more] = paths;
    const others = more.length === 0 ? "" : ` and ${more.length} more`;
    const files = printable(`${first}${others}`).replaceAll("*/", "*\\/");
    return `/** Rows of ${files}. Made by \`spillway types\`. */\n${rowInterface(name, columns, valuesOf(options))}`;
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

function valuesOf({ int64, decimal, timestamp }: ValueTexts): ValueOptions {
  return {
    ...(int64 === "bigint" ? { int64 } : {}),
    ...(decimal === "string" ? { decimal } : {}),
    ...(timestamp === "bigint" ? { timestamp } : {}),
  };
}

function formatOf(paths: readonly string[]): Format {
  for (const path of paths) {
    const [, extension = ""] = /\.([a-z]+)(?:\.(?:gz|zst))?$/i.exec(path) ?? [];
    const format = EXTENSIONS.get(extension.toLowerCase());
    if (format !== undefined) return format;
  }
  throw new OptionError(`types: the format of ${paths[0]} is unknown. Give it: --format parquet, csv, json or arrow.`);
}
