#!/usr/bin/env node
/** The command line: one file a command. */
import { OptionError } from "../errors/index.ts";
import { config } from "./config.ts";
import { info } from "./info.ts";
import { version } from "./version.ts";

const HELP = `Usage: spillway <command> [--<setting> <value> …]

  info                what a session on this machine would have: workers, memory, directories
  config              every setting, its value in force, and where that came from
  config --json       the same for programs
  config --markdown   the settings that there are, as a table
  --version           the version
  --help              this text

Settings as in docs/configuration.md: spillway config --worker.memory.target 0.5
`;

const COMMANDS: Readonly<Record<string, (words: readonly string[]) => string>> = {
  info,
  config,
  "--version": () => `spillway ${version()}\n`,
  "--help": () => HELP,
};
const SHORT: Readonly<Record<string, string>> = {
  "-v": "--version",
  version: "--version",
  "-h": "--help",
  help: "--help",
};

const [first = "--help", ...words] = process.argv.slice(2);
const asksForHelp = words.includes("--help") || words.includes("-h");
const command = asksForHelp ? "--help" : Object.hasOwn(SHORT, first) ? (SHORT[first] ?? first) : first;
const run = Object.hasOwn(COMMANDS, command) ? COMMANDS[command] : undefined;
try {
  if (run === undefined) throw new OptionError(`there is no command "${command}".\n\n${HELP.trimEnd()}`);
  process.stdout.write(run(words));
} catch (error) {
  if (!(error instanceof OptionError)) throw error;
  process.stderr.write(`spillway: ${error.message}\n`);
  process.exitCode = 2;
}
