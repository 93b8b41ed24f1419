/**
 * `spillway run script.ts`: starts a script with settings. They reach its sessions as command-line options, which win
 * over the script's own code. Signals and the exit code are passed on.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:os";
import type { Command } from "commander";
import { readConfig, runVariable } from "../../config/index.ts";
import { commandFor } from "../script.ts";
import { sessionsGone, tellDashboards } from "../script-sessions.ts";
import { settingsOf } from "../settings.ts";

const EXAMPLES = `
Settings: every one of docs/configuration.md, before the script. They win over the script's own.
  --workers <n>, --memory-limit <size>, --object-store-memory <size>, --local-directory <path>, …

Examples:
  spillway run --memory-limit 4GiB --local-directory /scratch --workers 4 script.ts
  spillway run script.mjs --input data/    what follows the script is the script's
`;

/** Signals that are passed on to the script. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGUSR2"] as const;

export function define(command: Command): void {
  const settings = settingsOf(command);
  command
    .argument("<script>", "a .ts, .mts, .js, .mjs or .cjs file")
    .argument("[arguments...]", "of the script")
    .passThroughOptions()
    .addHelpText("after", EXAMPLES)
    .action((script: string, words: string[]) => start(script, words, settings()));
}

async function start(script: string, words: readonly string[], settings: readonly string[]): Promise<void> {
  // Reports a wrong setting here, not from inside the script.
  readConfig({ arguments: settings });
  const child = spawn(process.execPath, [...commandFor(script), ...words], {
    stdio: "inherit",
    env: { ...process.env, ...runVariable(settings) },
  });
  // On a terminal, the session itself prints the address.
  const stop =
    child.pid === undefined || process.stderr.isTTY
      ? () => {}
      : tellDashboards(child.pid, (address) => process.stderr.write(`spillway: dashboard at ${address}\n`));
  const { code, signal } = await ended(child).finally(stop);
  if (child.pid !== undefined) await sessionsGone(child.pid);
  if (signal === null) {
    process.exitCode = code ?? 1;
    return;
  }
  // The shell should see which signal ended the script. If the signal does not end this process, the exit code names
  // it.
  process.kill(process.pid, signal);
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
}

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

function ended(child: ChildProcess): Promise<End> {
  const listeners = SIGNALS.map((signal) => {
    // A terminal sends Ctrl-C to the script directly. A second one would mean "stop at once" to many programs.
    const listener = () => {
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    };
    process.on(signal, listener);
    return () => process.off(signal, listener);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      for (const stop of listeners) stop();
      resolve({ code, signal });
    });
  });
}
