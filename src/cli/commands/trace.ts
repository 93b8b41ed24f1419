/** `spillway trace`: the task stream of a session as Chrome trace JSON. */
import type { Command } from "commander";
import { sendTrace, writeTrace } from "../../report/index.ts";
import { findSession } from "../../sessions/index.ts";
import { say } from "../terminal.ts";

const EXAMPLES = `
Open the file at https://ui.perfetto.dev or https://www.speedscope.app, or in chrome://tracing.

Examples:
  spillway trace                     the newest session, to spillway-<session>.trace.json
  spillway trace latest -o job.json
  spillway trace -o - | gzip > job.json.gz
`;

export function define(command: Command): void {
  command
    .argument("[session]", "its name, the beginning of it, or its directory")
    .option("-o, --output <file>", "where to write; - is standard output")
    .addHelpText("after", EXAMPLES)
    .action(async (wanted: string | undefined, { output }: { output?: string }) => {
      const { name, directory } = findSession(wanted);
      if (output === "-") return sendTrace(directory, process.stdout);
      const path = output ?? `spillway-${name}.trace.json`;
      await writeTrace(directory, path);
      say(`${path}: open it at https://ui.perfetto.dev or https://www.speedscope.app.`);
    });
}
