/** `spillway report`: a whole session as one HTML file. */
import type { Command } from "commander";
import { writeReport } from "../../report/index.ts";
import { findSession } from "../../sessions/index.ts";
import { say } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway report                    the newest session, to spillway-<session>.html
  spillway report latest -o job.html
`;

export function define(command: Command): void {
  command
    .argument("[session]", "its name, the beginning of it, or its directory")
    .option("-o, --output <file>", "where to write")
    .addHelpText("after", EXAMPLES)
    .action(async (wanted: string | undefined, { output }: { output?: string }) => {
      const { name, directory, status } = findSession(wanted);
      const path = output ?? `spillway-${name}.html`;
      await writeReport(directory, { name, status, now: new Date() }, path);
      say(`${path}: open it in a browser.`);
    });
}
