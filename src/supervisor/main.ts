#!/usr/bin/env node
/**
 * The supervisor process. argv[2]: its options (SupervisorOptions) as JSON. Prints one line to stdout: `ready` when it
 * listens, or why it cannot start, as a WireError; nobody reads on. What goes wrong later goes to stderr, its log.
 */
import { SpillwayError, toWire } from "../errors/index.ts";
import type { SupervisorOptions } from "./options.ts";
import { Supervisor } from "./supervisor.ts";

// The terminal's Ctrl-C and hang-up are the program's; its end is our signal.
process.on("SIGINT", () => {});
process.on("SIGHUP", () => {});

const CLEANUP_MS = 5_000;

const text = process.argv[2];
if (text === undefined) {
  process.stderr.write("A supervisor is started by a session, not by hand.\n");
  process.exit(2);
}

const supervisor = started(JSON.parse(text) as SupervisorOptions);
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
process.stdout.write("ready\n");
