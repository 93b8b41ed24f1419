#!/usr/bin/env node
/**
 * The supervisor process. Its options (SupervisorOptions) come as JSON on stdin; argv[2], the session's name, is only
 * for people who list processes. Prints one line of JSON to stdout: the session's directory when it listens (Ready), or
 * a WireError if it cannot start. Later errors go to stderr, its log.
 */
import { readFileSync } from "node:fs";
import { SpillwayError, toWire } from "../errors/index.ts";
import type { Ready, SupervisorOptions } from "./options.ts";
import { Supervisor } from "./supervisor.ts";

// Ctrl-C and hang-up are for the program; the supervisor ends when the program does.
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
    // Errors of our own classes say everything; others need the log.
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
  // The clean-up itself may have failed.
  setTimeout(() => process.exit(1), CLEANUP_MS);
  void supervisor.close();
}

process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
process.on("SIGTERM", () => void supervisor.close());

try {
  await supervisor.open();
} catch (error) {
  if (error instanceof SpillwayError) process.stdout.write(`${JSON.stringify(toWire(error))}\n`);
  throw error;
}
// The program stops reading after this line.
process.stdout.on("error", () => {});
const ready: Ready = { directory: supervisor.directory };
process.stdout.write(`${JSON.stringify(ready)}\n`);
