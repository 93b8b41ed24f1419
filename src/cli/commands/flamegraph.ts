/** `spillway flamegraph`: a heap profile as one HTML file. */
import { existsSync } from "node:fs";
import type { Command } from "commander";
import { OptionError } from "../../errors/index.ts";
import { flamegraph } from "../../profile/index.ts";
import { printable, say } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway flamegraph heap.heapprofile               to heap.html
  spillway flamegraph heap.heapprofile -o heap.html
`;

export function define(command: Command): void {
  command
    .argument("<file>", "a .heapprofile")
    .option("-o, --output <file>", "where to write")
    .addHelpText("after", EXAMPLES)
    .action((file: string, { output }: { output?: string }) => {
      if (!existsSync(file)) throw new OptionError(`flamegraph: there is no file ${file}.`);
      say(`${printable(output === undefined ? flamegraph(file) : flamegraph(file, output))}: open it in a browser.`);
    });
}
