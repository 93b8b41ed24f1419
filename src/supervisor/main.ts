#!/usr/bin/env node
/**
 * The supervisor process. Its options (SupervisorOptions) come as JSON on its standard input; argv[2], the session's
 * name, is there for people. Prints one line of JSON to stdout: where the session is, when it listens (Ready), or why
 * it cannot start, a WireError; nobody reads on. What goes wrong later goes to stderr, its log.
 */
import { readFileSync } from "node:fs";
import { SpillwayError, toWire } from "../errors/index.ts";
import type { Ready, SupervisorOptions } from "./options.ts";
import { Supervisor } from "./supervisor.ts";

// The terminal's Ctrl-C and hang-up are the program's; its end is our signal.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});

const CLEANUP_MS = 5_000;

const STDIN = 0;
if (process.argv[2] === undefined) {
  process.stderr.write("A supervisor is started by a session, not by hand.\n");
  process.exit(2);
}

const supervisor = started(JSON.parse(readFileSync(STDIN, "utf8")) as SupervisorOptions);
let failing = false;

function started(options: SupervisorOptions): Supervisor {
  try {
    return new Supervisor(options, () => process.exit());
  } catch (error) {
    const wire = toWire(error);
    process.stderr.write(`${wire.stack ?? wire.message}\n`);
    // What has a class of its own says all there is to say; the rest needs the log.
    if (error instanceof SpillwayError) process.stdout.write(`${JSON.stringify(wire)}\n`);
    process.exit(1);
  }
}

function fail(error: unknown): void {
  const { name, message, stack } = toWire(error);
  process.stderr.write(`${stack ?? `${name}: ${message}`}\n`);
  process.exitCode = 1;
  if (failing) process.exit(1);
  failing = true;
  // Cleaning up may be what failed.
  setTimeout(() => process.exit(1), CLEANUP_MS);
  void supervisor.close();
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
process.on("SIGTERM", () => void supervisor.close());

await supervisor.open();
// The program stops reading after this line.
process.stdout.on("error", () => {});
const ready: Ready = { directory: supervisor.directory };
process.stdout.write(`${JSON.stringify(ready)}\n`);
