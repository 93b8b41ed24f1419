/**
 * Finds the wanted command, loads only that command, and runs it. Exit codes: 2 for a wrong command or option, 1 for a
 * failure.
 */
import { Command, CommanderError } from "commander";
import { unknownOption } from "../config/index.ts";
import { OptionError, SpillwayError } from "../errors/index.ts";
import { nearest } from "../units/index.ts";
import { COMMANDS, type CommandEntry, commandNamed } from "./commands.ts";
import { flagsWithValues } from "./settings.ts";
import { printable, screenWidth } from "./terminal.ts";
import { version } from "./version.ts";

const WRONG_WORDS = 2;
const FAILED = 1;

const EXAMPLES = `
Examples:
  spillway run --memory-limit 4GiB --workers 4 script.ts
  spillway memory              blocks and memory of the newest session
  spillway oom                 why it ran out of memory
  spillway report -o job.html  the newest session as one file

A session is named by its name, the beginning of it, its directory, or "latest" (the default).
Settings are options, too, as in docs/configuration.md: spillway config --worker.memory.target 0.5
`;

export async function main(given: readonly string[]): Promise<void> {
  // `spillway help run` means `spillway run --help`.
  const [first = "", second, ...rest] = given;
  const words = first === "help" ? [...(second === undefined ? [] : [second]), "--help", ...rest] : given;
  let entry: CommandEntry | undefined;
  try {
    entry = meant(words);
    const program = await programWith(entry);
    const usable = entry?.takesSettings === true ? [words[0] ?? "", ...flagsWithValues(words.slice(1))] : words;
    await program.parseAsync(usable.length === 0 ? ["--help"] : usable, { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const told = error instanceof CommanderError ? wrongWords(error, entry) : error;
    if (!(told instanceof SpillwayError)) throw told;
    process.stderr.write(`spillway: ${printable(told.message, "\n")}\n`);
    process.exitCode = told instanceof OptionError ? WRONG_WORDS : FAILED;
  }
}

/** Every command is in it by name; only the one that is meant has its options. */
async function programWith(entry: CommandEntry | undefined): Promise<Command> {
  const program = newProgram();
  for (const one of COMMANDS) {
    const command = program.command(one.name).helpGroup(one.group).description(one.summary);
    if (one === entry) (await one.load()).define(command);
  }
  return program;
}

/** All commands with all their options, for completion. */
export async function wholeProgram(): Promise<Command> {
  const program = newProgram();
  for (const one of COMMANDS) (await one.load()).define(program.command(one.name).description(one.summary));
  return program;
}

function newProgram(): Command {
  const program = new Command("spillway")
    .description("The out-of-core dataset engine of TypeScript.")
    .usage("<command> [options]")
    .version(`spillway ${version()}`, "-v, --version", "the version")
    .helpOption("-h, --help", "help, also for each command")
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeErr: () => {}, getOutHelpWidth: () => Math.min(screenWidth(), 120) })
    .configureHelp({ showGlobalOptions: false });
  return program.addHelpText("after", EXAMPLES);
}

function meant(words: readonly string[]): CommandEntry | undefined {
  const name = words[0];
  if (name === undefined || name.startsWith("-")) return undefined;
  const entry = commandNamed(name);
  if (entry !== undefined) return entry;
  const near = nearest(
    name,
    COMMANDS.map((one) => one.name),
  );
  const hint = near === null ? "" : ` Did you mean "${near}"?`;
  throw new OptionError(`there is no command "${name}".${hint} spillway --help lists all.`);
}

/** Rewrites the parser's messages. For an unknown setting, the message suggests the nearest one. */
function wrongWords({ message, code }: CommanderError, entry: CommandEntry | undefined): OptionError {
  const option = /unknown option '(--[^']+)'/.exec(message)?.[1];
  if (code === "commander.unknownOption" && option !== undefined && entry?.takesSettings === true) {
    return unknownOption(option);
  }
  const said = message
    .replace(/^error: /, "")
    .replaceAll("\n", " ")
    .replace(/\.$/, "");
  const name = entry === undefined ? "" : `${entry.name}: `;
  return new OptionError(`${name}${said}. spillway ${entry?.name ?? ""} --help says more.`.replaceAll("  ", " "));
}
