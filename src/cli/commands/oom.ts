/** `spillway oom`: the story of each worker death and each retry after running out of memory. */
import type { Command } from "commander";
import { OptionError } from "../../errors/index.ts";
import { type Death, deathsOf, headOf } from "../../report/index.ts";
import { formatDuration, formatSize } from "../../units/index.ts";
import { logTail, profileOf } from "../logs.ts";
import { wholeNumber } from "../numbers.ts";
import { plot } from "../plot.ts";
import { type Looked, look, sessionArgument } from "../session-state.ts";
import { table, wrapped } from "../table.ts";
import { json, printable, say, screenWidth, styled } from "../terminal.ts";

const EXAMPLES = `
Examples:
  spillway oom               every worker that died, and every task that ran out of memory
  spillway oom --number 2    the second of them alone
  spillway oom latest --json
`;

/** Lines of a worker's log. */
const LINES = 5;
/** Most files of a task. */
const MOST_FILES = 5;

export function define(command: Command): void {
  sessionArgument(command)
    .option("--number <n>", "one of them alone", wholeNumber(1))
    .option("--json", "for programs")
    .addHelpText("after", EXAMPLES)
    .action(async (wanted: string | undefined, { number, json: asJson }: { number?: number; json?: true }) => {
      const looked = await look(wanted);
      const all = deathsOf(looked.state);
      const deaths = all.filter((death) => number === undefined || death.number === number);
      if (number !== undefined && deaths.length === 0 && all.length > 0) throw noStory(looked, number, all);
      say(asJson ? json(deaths) : textOf(looked, deaths));
    });
}

function noStory({ known }: Looked, number: number, all: readonly Death[]): OptionError {
  const there = all.map((death) => death.number).join(", ");
  return new OptionError(`oom: session ${known.name} has no story ${number}. There are the numbers ${there}.`);
}

function textOf({ known, standing, state }: Looked, deaths: readonly Death[]): string {
  const session = `Session ${printable(known.name)} ${standing}.`;
  if (deaths.length === 0) return `${session}\nNo worker died, and no task ran out of memory.\n`;
  const left = state.happenedBefore === 0 ? "" : `\nEarlier ones are not kept.`;
  return `${session}${left}\n${deaths.map((death) => `\n${story(death, known.directory)}`).join("")}`;
}

function story(death: Death, directory: string): string {
  const { number, at, gone, shortage, task, operator, files, attempts, remedies } = death;
  const parts = [`${styled("bold", printable(`${number}. At ${formatDuration(at)}: ${headOf(death)}`))}\n`];
  const tell = (text: string) => parts.push(indented(text));
  if (task !== null) tell(`Task ${task}${operator === null ? "" : ` of ${operator}`}.`);
  if (files.length > 0) tell(`It read ${listed(files)}.`);
  if (gone !== null) parts.push(moment(death));
  if (shortage !== null && shortage.memory !== null) {
    const limit = shortage.limit === null ? "without a limit" : `with a limit of ${formatSize(shortage.limit)}`;
    tell(`The most that its worker was measured with: ${formatSize(shortage.memory)}, ${limit}.`);
  }
  if (attempts.length > 0) tell("What each attempt asked for:");
  for (const attempt of attempts) parts.push(indented(`${attempt.number}. ${attempt.text}`, 5));
  if (remedies.length > 0) tell("What to do, the smallest change first:");
  remedies.forEach((remedy, index) => {
    parts.push(indented(`${index + 1}. ${remedy}`, 5));
  });
  parts.push(traces(death, directory));
  return parts.join("");
}

/** What was known of the node and of the process when it ended. */
function moment({ gone }: Death): string {
  if (gone === null) return "";
  const { endedFor, exitCode, signal, limit, curve, nodeCurve, node, beside } = gone;
  const parts: string[] = [];
  if (endedFor !== null) parts.push(indented(`Why it was chosen: ${endedFor}.`));
  const end = signal ?? (exitCode === null ? null : `code ${exitCode}`);
  if (end !== null) parts.push(indented(`Its process ended with ${end}.`));
  const [own, around] = [plot(curve, limit), plot(nodeCurve, threshold(node))];
  if (own !== "") parts.push(indented("Its own memory before the end:"), own);
  if (around !== "") parts.push(indented("Memory used on the node:"), around);
  if (node !== null) {
    const share = node.threshold === null ? "" : `, threshold ${node.threshold}`;
    parts.push(
      indented(
        `Node ${node.host}: ${formatSize(node.used)} of ${formatSize(node.total)} in use${share}. The most had:`,
      ),
    );
    const users = node.users.map(({ name, private: own, pid }) => ["   ", name, formatSize(own), String(pid)]);
    parts.push(table(users, { right: [2, 3] }));
  }
  for (const { worker, operator, private: own } of beside) {
    parts.push(indented(`Beside it: ${operator} in worker ${worker}${own === null ? "" : `, ${formatSize(own)}`}.`));
  }
  return parts.join("");
}

function threshold(node: NonNullable<Death["gone"]>["node"]): number | null {
  return node === null || node.threshold === null ? null : node.threshold * node.total;
}

/** The worker's log and its last profile. */
function traces({ gone, shortage }: Death, directory: string): string {
  const worker = gone?.worker ?? shortage?.worker;
  if (worker === undefined) return "";
  const log = logTail(directory, worker, LINES);
  const profile = profileOf(directory, worker);
  return [
    ...(log === null
      ? []
      : [indented(`Its log (spillway logs --worker ${worker}):`), ...log.map((line) => indented(line, 5))]),
    ...(profile === null ? [] : [indented(`Its last heap profile: spillway flamegraph ${profile}`)]),
  ].join("");
}

function listed(files: readonly string[]): string {
  const shown = files.slice(0, MOST_FILES).join(", ");
  return files.length > MOST_FILES ? `${shown} and ${files.length - MOST_FILES} more` : shown;
}

function indented(text: string, columns = 3): string {
  return wrapped(printable(text), screenWidth() - columns)
    .map((line) => `${" ".repeat(columns)}${line}\n`)
    .join("");
}
