/**
 * `spillway dashboard`: the address of a running session's dashboard; of a session that has ended, the same pages from
 * its event file, until Ctrl-C.
 */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Command } from "commander";
import { serveSession } from "../../dashboard/index.ts";
import { findSession, type KnownSession } from "../../sessions/index.ts";
import { readAttachment } from "../../supervisor/index.ts";
import { wholeNumber } from "../numbers.ts";
import { sessionArgument } from "../session-state.ts";
import { printable, say } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway dashboard              the newest session that runs, or else the newest
  spillway dashboard --open       also opens it in a browser
  spillway dashboard 20260131T235959-4711-a0b1c2 --port 9000
`;

const PORT = 8787;

export function define(command: Command): void {
  sessionArgument(command)
    .option("--port <n>", "tried first, then those after it", wholeNumber(0), PORT)
    .option("--open", "open it in a browser")
    .addHelpText("after", EXAMPLES)
    .action((wanted: string | undefined, options: { port: number; open?: true }) => {
      return show(findSession(wanted), options.port, options.open === true);
    });
}

async function show(known: KnownSession, port: number, opens: boolean): Promise<void> {
  if (known.dashboard !== null) {
    say(`${known.dashboard}\n`);
    if (opens) openInBrowser(known.dashboard);
    return;
  }
  const attachment = known.status === "running" ? readAttachment(known.directory) : null;
  const live = attachment === null ? null : { socketDirectory: attachment.directory, token: attachment.token };
  const token = randomBytes(16).toString("hex");
  const { url, close } = await serveSession({ directory: known.directory, live, port, token });
  const about = live === null ? "as it was at its end" : "which has no dashboard of its own";
  say(`${url}\nSession ${printable(known.name)}, ${about}. Ctrl-C ends this.`);
  if (opens) openInBrowser(url);
  await interrupted();
  await close();
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    process.once("SIGINT", () => resolve());
    process.once("SIGTERM", () => resolve());
  });
}

function openInBrowser(url: string): void {
  const program = process.platform === "darwin" ? "open" : "xdg-open";
  const child = spawn(program, [url], { detached: true, stdio: "ignore" });
  child.once("error", (error) => process.stderr.write(`spillway: no browser was opened: ${error.message}\n`));
  child.unref();
}
