/** `spillway logs`: the logs of workers and the supervisor: whole, as they grow, or only the lines with a text. */
import { statSync, watch } from "node:fs";
import { StringDecoder } from "node:string_decoder";
import type { Command } from "commander";
import { OptionError } from "../../errors/index.ts";
import { findSession, type KnownSession } from "../../sessions/index.ts";
import { bytesFrom, type LogFile, logsIn } from "../logs.ts";
import { wholeNumber } from "../numbers.ts";
import { sessionArgument } from "../session-state.ts";
import { json, printable, say } from "../terminal.ts";

const EXAMPLES = `
Exit code 1: --find has found nothing.

Examples:
  spillway logs                     all of them
  spillway logs --worker 3 --lines 50
  spillway logs --follow            until the session ends
  spillway logs --find Warning
  spillway logs --files             their paths alone
`;

/** A killed session changes no file that could be watched, so its status is checked this often. */
const CHECK = 1_000;

interface Options {
  readonly worker?: number;
  readonly lines?: number;
  readonly find?: string;
  readonly follow?: true;
  readonly files?: true;
  readonly json?: true;
}

export function define(command: Command): void {
  sessionArgument(command)
    .option("--worker <n>", "of one worker", wholeNumber(0))
    .option("--lines <n>", "the last n lines of each", wholeNumber(1))
    .option("--find <text>", "lines that have the text")
    .option("--follow", "go on with what comes, until the session ends")
    .option("--files", "their paths alone")
    .option("--json", "their paths and sizes, for programs")
    .addHelpText("after", EXAMPLES)
    .action((wanted: string | undefined, options: Options) => show(findSession(wanted), options));
}

async function show(known: KnownSession, options: Options): Promise<void> {
  const logs = () =>
    logsIn(known.directory).filter(({ worker }) => options.worker === undefined || worker === options.worker);
  const found = logs();
  if (found.length === 0 && options.follow !== true) throw noLogs(known, options);
  if (options.json) return say(json(found));
  if (options.files) return say(found.map(({ path }) => `${printable(path)}\n`).join(""));
  const readers = new Map<string, Reader>();
  let hasPrinted = false;
  const print = (isLast: boolean) => {
    for (const log of logs()) {
      const reader = readers.get(log.name) ?? new Reader(log, options);
      readers.set(log.name, reader);
      const text = reader.read(isLast);
      hasPrinted ||= text !== "";
      if (text !== "") say(text);
    }
  };
  const follows = options.follow === true && known.status === "running";
  print(!follows);
  if (follows) await untilEnd(known, print);
  if (options.find !== undefined && !hasPrinted) process.exitCode = 1;
}

function noLogs({ name, directory }: KnownSession, { worker }: Options): OptionError {
  const all = logsIn(directory).flatMap((log) => log.worker ?? []);
  if (worker === undefined) return new OptionError(`logs: session ${name} has no logs in ${directory}.`);
  const there = all.length === 0 ? "No worker has one." : `There are those of the workers ${all.join(", ")}.`;
  return new OptionError(`logs: session ${name} has no log of worker ${worker}. ${there} Old ones are removed.`);
}

/** Calls `print` whenever there may be more, and a last time at the end. */
function untilEnd(known: KnownSession, print: (isLast: boolean) => void): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      const hasEnded = findSession(known.directory).status !== "running";
      print(hasEnded);
      if (!hasEnded) return;
      watcher.close();
      clearInterval(timer);
      resolve();
    };
    const watcher = watch(known.directory, look);
    const timer = setInterval(look, CHECK);
  });
}

/** Reads a log from where it last stopped, and makes the text safe for a terminal. */
class Reader {
  #at = 0;
  #rest = "";
  readonly #decoder = new StringDecoder("utf8");
  #isFirst = true;
  readonly #name: string;

  constructor(
    private readonly log: LogFile,
    private readonly options: Options,
  ) {
    // A single log needs no name before its lines.
    this.#name = options.worker === undefined ? `${log.name.replace(/\.log$/, "")}: ` : "";
  }

  /** `isLast`: a last line without a line end counts, too. */
  read(isLast: boolean): string {
    const lines = this.#newLines(isLast);
    const { find, lines: most } = this.options;
    const wanted = find === undefined ? lines : lines.filter((line) => line.includes(find));
    const shown = this.#isFirst && most !== undefined ? wanted.slice(-most) : wanted;
    this.#isFirst = false;
    return shown.map((line) => `${this.#name}${printable(line, "\t")}\n`).join("");
  }

  #newLines(isLast: boolean): string[] {
    const text = this.#text();
    const lines = `${this.#rest}${text}`.split("\n");
    this.#rest = lines.pop() ?? "";
    if (!isLast || this.#rest === "") return lines;
    const last = this.#rest;
    this.#rest = "";
    return [...lines, last];
  }

  #text(): string {
    try {
      // A log that grew too large has lost its older half.
      this.#at = Math.min(this.#at, statSync(this.log.path).size);
      const bytes = bytesFrom(this.log.path, this.#at);
      this.#at += bytes.length;
      return this.#decoder.write(bytes);
    } catch (error) {
      // Logs of workers that ended long ago are removed.
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
      throw error;
    }
  }
}
