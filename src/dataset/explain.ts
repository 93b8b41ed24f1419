/**
 * A plan before and after the rules, and the stages that run: with their SQL, estimates, what is skipped, and where
 * fusion stopped. After a run, also the real figures of each stage. As text, or the stages as a Mermaid flowchart.
 */
import { OptionError } from "../errors/index.ts";
import { planLines } from "../plan/index.ts";
import type { JobStats, OperatorId, OperatorStats } from "../protocol/index.ts";
import {
  buildStages,
  estimatesOf,
  figuresText,
  learnedText,
  type Stages,
  stageChart,
  stageLines,
} from "../stages/index.ts";
import { formatDuration } from "../units/index.ts";
import { blocksOf, type Run } from "./consume/blocks.ts";
import { type CancelOptions, cancelKeys } from "./consume/cancellation.ts";
import { learnedBy } from "./learned.ts";
import { checkKeys, describe, oneOf } from "./options.ts";
import { optimised, planningOf } from "./run.ts";

export interface ExplainOptions extends CancelOptions {
  /** "mermaid": the stages as a flowchart. Default "text". */
  readonly format?: "text" | "mermaid";
  /** Runs the plan to its end first, without keeping or writing anything, to get real figures. Default false. */
  readonly analyze?: boolean;
}

export async function explained(run: Run, last: JobStats | null, options: ExplainOptions): Promise<string> {
  checkKeys("explain", options, ["format", "analyze", ...cancelKeys]);
  const { format = "text", analyze = false } = options;
  const wanted = oneOf("explain", "format", format, ["text", "mermaid"]);
  if (typeof analyze !== "boolean") {
    throw new OptionError(`explain: analyze is ${describe(analyze)}; it must be true or false.`);
  }
  const { engine, plan } = run;
  engine.checkOpen();
  // `reads: false`: nothing is read before the plan runs.
  const best = await optimised(engine, plan, { reads: false, check: () => run.cancellation.check() });
  const stages = await buildStages(best, false, planningOf(engine));
  const estimates = await estimatesOf(stages);
  const job = analyze ? await runThrough(run) : last;
  const ran = figuresOf(stages, job);
  const known = { estimates, ran: ran ?? new Map(), learned: learnedBy(engine, stages) };
  if (wanted === "mermaid") return stageChart(stages, known);
  return [
    ...section("Logical plan", planLines(plan)),
    ...section("Optimised plan", planLines(best)),
    ...section(physicalTitle(ran === null ? null : job), stageLines(stages, known)),
    ...(job === null || ran !== null ? [] : section(otherTitle(job), job.operators.map(operatorLine))),
  ].join("\n");
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return [title, ...lines.map((line) => `  ${line}`)];
}

const took = (job: JobStats) => formatDuration(job.seconds * 1000);

function physicalTitle(job: JobStats | null): string {
  return job === null ? "Physical plan" : `Physical plan, with the figures of a run that took ${took(job)}`;
}

function otherTitle(job: JobStats): string {
  return `The last run had other stages and took ${took(job)}`;
}

function operatorLine(operator: OperatorStats): string {
  const learned = learnedText(operator);
  const memory = learned === null ? "" : `; ${learned}`;
  return `Stage ${operator.id + 1} ${operator.name}: ${figuresText(operator)}${memory}`;
}

/** Figures by stage. Null if the run had other stages: `take` adds a limit, `count` leaves out sorts. */
function figuresOf({ stages }: Stages, job: JobStats | null): ReadonlyMap<OperatorId, OperatorStats> | null {
  if (job === null) return null;
  const more = job.operators.slice(stages.length);
  const isSame = stages.every(({ name }, i) => job.operators[i]?.name === name) && more.every(isGathering);
  return isSame ? new Map(job.operators.map((operator) => [operator.id, operator])) : null;
}

/** An operator that is added for sinks that take rows themselves. */
const isGathering = ({ name }: OperatorStats) => name === "gather";

async function runThrough(run: Run): Promise<JobStats | null> {
  let figures: JobStats | null = null;
  const ended = (stats: JobStats) => {
    figures = stats;
    run.ended(stats);
  };
  for await (const block of blocksOf({ ...run, ended })) block.release();
  return figures;
}
