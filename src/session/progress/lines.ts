/** A job as text: a line per operator and a line for the whole job, or a single plain line. */
import {
  type JobStats,
  type Milliseconds,
  type OperatorId,
  type OperatorStats,
  policyWords,
} from "../../protocol/index.ts";
import { formatDuration, formatSize } from "../../units/index.ts";
import { clipped, padded, printable, shortened, widthOf } from "./cells.ts";
import type { Rate } from "./rate.ts";

export interface ShownJob {
  readonly stats: JobStats;
  readonly elapsed: Milliseconds;
  /** Bytes handed on per second, by operator. */
  readonly rates: ReadonlyMap<OperatorId, Rate>;
}

type Colour = "green" | "yellow" | "red";
export type Paint = (text: string, colour: Colour) => string;

interface Part {
  readonly text: string;
  /** A share to draw as a bar on a terminal; null when it is unknown. */
  readonly bar?: number | null;
  readonly colour?: Colour;
}

const BAR = 10;
const LONGEST_NAME = 40;
/** Below this share, an estimate is worthless. */
const LEAST_SHARE = 0.02;

/** At most `height` lines of `width` columns. Ended operators are left out first. */
export function jobLines(job: ShownJob, width: number, height: number, paint: Paint): readonly string[] {
  const { operators } = job.stats;
  const shown = chosen(operators, Math.max(0, height - 1));
  const room = Math.max(8, Math.min(LONGEST_NAME, Math.floor(width * 0.4)));
  const left = operators.length - shown.length;
  const title = left === 0 ? "total" : `total (${left} more)`;
  const names = shown.map(({ name }) => shortened(printable(name), room));
  const column = Math.max(...[title, ...names].map(widthOf));
  const line = (name: string, parts: readonly Part[]) =>
    drawn([{ text: padded(name, column) }, ...parts], width, paint);
  const lines = shown.map((operator, i) => line(names[i] ?? "", operatorParts(operator, job)));
  return [...lines, line(title, totalParts(job))];
}

/** For logs: the content of the terminal's lines in one line. */
export function plainLine(job: ShownJob): string {
  const text = (parts: readonly Part[]) => parts.flatMap((part) => (part.text === "" ? [] : [part.text])).join(", ");
  const operators = job.stats.operators.map(
    (operator) => `${printable(operator.name)}: ${text(operatorParts(operator, job))}`,
  );
  return [...operators, `total: ${text(totalParts(job))}`].join(" | ");
}

function chosen(operators: readonly OperatorStats[], most: number): readonly OperatorStats[] {
  if (operators.length <= most) return operators;
  const rank = ({ tasksRunning, share }: OperatorStats) => (tasksRunning > 0 ? 0 : share === 1 ? 2 : 1);
  const best = [...operators].sort((a, b) => rank(a) - rank(b)).slice(0, most);
  return operators.filter((operator) => best.includes(operator));
}

function operatorParts(operator: OperatorStats, { rates }: ShownJob): readonly Part[] {
  const { share, tasks, tasksDone, rowsOut, blocks, heldBy } = operator;
  const rate = rates.get(operator.id)?.perSecond ?? 0;
  const parts: Part[] = [
    { bar: share, text: share === null ? "" : `${Math.floor(share * 100)}%`, colour: "green" },
    { text: `${tasksDone}/${counted(tasks, "task")}` },
    { text: counted(rowsOut.total, "row") },
  ];
  if (blocks > 0) parts.push({ text: counted(blocks, "block") });
  if (rate > 0) parts.push({ text: `${formatSize(Math.round(rate))}/s` });
  if (heldBy !== null) parts.push({ text: `held back by ${policyWords(heldBy)}`, colour: "yellow" });
  return parts;
}

function totalParts({ stats, elapsed }: ShownJob): readonly Part[] {
  const { operators, memory, spilledBytes, workers } = stats;
  const last = operators.at(-1);
  const used = memory.workers + memory.store;
  const parts: Part[] = [{ text: seconds(elapsed) }, { text: counted(last?.rowsOut.total ?? 0, "row") }];
  if (memory.workerLimit === null) parts.push({ text: `memory ${formatSize(used)}` });
  else {
    // Without what the wide kernel is lent (`memory.limit`): that is a part of the store, or of workers that have
    // ended.
    const limit = memory.workerLimit * workers + memory.capacity;
    const text = `memory ${formatSize(used)} of ${formatSize(limit)}`;
    parts.push({ bar: used / limit, text, colour: heat(used / limit) });
  }
  if (spilledBytes > 0) parts.push({ text: `spilled ${formatSize(spilledBytes)}`, colour: "yellow" });
  const left = timeLeft(operators);
  if (left !== null) parts.push({ text: `${seconds(left)} left` });
  return parts;
}

/** The remaining time of the slowest operator; null when any operator's time is unknown. */
function timeLeft(operators: readonly OperatorStats[]): Milliseconds | null {
  let longest: Milliseconds | null = null;
  for (const { share, seconds, tasks } of operators) {
    if (share === 1 || tasks === 0) continue;
    if (share === null || share < LEAST_SHARE) return null;
    longest = Math.max(longest ?? 0, (1000 * seconds * (1 - share)) / share);
  }
  return longest;
}

/** Whole seconds: tenths would change the text with each update. */
function seconds(duration: Milliseconds): string {
  return formatDuration(Math.max(1, Math.round(duration / 1000)) * 1000).replace(".0s", "s");
}

function drawn(parts: readonly Part[], width: number, paint: Paint): string {
  let line = "";
  let left = width;
  for (const [i, part] of parts.entries()) {
    const text = withBar(part);
    const piece = clipped(i === 0 ? text : `  ${text}`, left);
    left -= widthOf(piece);
    line += part.colour === undefined ? piece : paint(piece, part.colour);
    if (left <= 0) break;
  }
  return line;
}

function withBar({ bar, text }: Part): string {
  if (bar === undefined) return text;
  const filled = Math.min(BAR, Math.max(0, Math.round((bar ?? 0) * BAR)));
  return `[${"#".repeat(filled)}${" ".repeat(BAR - filled)}] ${text.padStart(4)}`;
}

function heat(share: number): Colour {
  return share > 0.8 ? "red" : share > 0.7 ? "yellow" : "green";
}

function counted(amount: number, what: string): string {
  const whole = Math.round(amount);
  return `${whole.toLocaleString("en")} ${what}${whole === 1 ? "" : "s"}`;
}
