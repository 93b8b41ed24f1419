#!/usr/bin/env node
/** The command line: one file per command. */
import { OptionError, SpillwayError } from "../errors/index.ts";
import { config } from "./config.ts";
import { info } from "./info.ts";
import { version } from "./version.ts";

const HELP = `Usage: spillway <command> [--<setting> <value> …]

  info                what a session on this machine would have: workers, memory, directories
  config              every setting, its value in force, and where that came from
  config --json       the same for programs
  config --markdown   the settings that there are, as a table
  types <files>       the row type of files as TypeScript: spillway types data/*.parquet > rows.ts
                      --name Trip, --format parquet|csv|json|arrow, --int64 bigint, --decimal string, --timestamp bigint
  --version           the version
  --help              this text

Settings as in docs/configuration.md: spillway config --worker.memory.target 0.5
`;

const COMMANDS: Readonly<Record<string, (words: readonly string[]) => string | Promise<string>>> = {
  info,
  config,
  // Loaded on demand, because it loads the whole API.
  types: async (words) => (await import("./types.ts")).types(words),
  "--version": () => `spillway ${version()}\n`,
  "--help": () => HELP,
};
const SHORT: Readonly<Record<string, string>> = {
  "-v": "--version",
  version: "--version",
  "-h": "--help",
  help: "--help",
};

/** Exit codes: 2 for a wrong command or option, 1 for a failure. */
const WRONG_WORDS = 2;
const FAILED = 1;

const [first = "--help", ...words] = process.argv.slice(2);
const asksForHelp = words.includes("--help") || words.includes("-h");
const command = asksForHelp ? "--help" : Object.hasOwn(SHORT, first) ? (SHORT[first] ?? first) : first;
const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
try {
  if (run === undefined) throw new OptionError(`there is no command "${command}".\n\n${HELP.trimEnd()}`);
  process.stdout.write(await run(words));
} catch (error) {
  if (!(error instanceof SpillwayError)) throw error;
  process.stderr.write(`spillway: ${error.message}\n`);
  process.exitCode = error instanceof OptionError ? WRONG_WORDS : FAILED;
}
