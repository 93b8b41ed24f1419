/** Outcomes as Markdown: a row for each job, a column for each engine, and the errors below. */
import type { Facts } from "../report/index.ts";
import type { EngineName } from "../workload.ts";
import type { SurviveJob } from "./jobs.ts";
import type { Outcome } from "./outcome.ts";

export interface SurviveResult {
  readonly job: SurviveJob;
  readonly outcomes: ReadonlyMap<EngineName, Outcome>;
}

/** Long enough to identify an error. */
const DETAIL_LENGTH = 160;

export function surviveTable(results: readonly SurviveResult[], engines: readonly EngineName[]): string {
  const lines = [
    ["job", "right end", ...engines],
    ["---", "---", ...engines.map(() => "---")],
    ...results.map(({ job, outcomes }) => [
      job.title,
      job.answer === null ? "error" : "answer",
      ...engines.map((engine) => cell(outcomes.get(engine))),
    ]),
  ];
  return `${lines.map(row).join("\n")}\n`;
}

export function surviveMarkdown(
  facts: Facts,
  box: string,
  results: readonly SurviveResult[],
  engines: readonly EngineName[],
): string {
  const peers = Object.entries(facts.peers).map(([name, version]) => `${name} ${version}`);
  return `# What survives in ${box}

Commit ${facts.commit}; ${facts.cores} cores (${facts.cpu}); Node ${facts.node}; ${peers.join(", ")}.
Seconds from the start of the program to its last word; **bold** where the end is the right one; kills are the kernel's.

${surviveTable(results, engines)}
## What was said
${results.flatMap(details).join("\n")}
`;
}

function cell(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "";
  const { ending, isRight, seconds, kills } = outcome;
  const kind = ending === "error" ? (outcome.detail.split(":")[0] ?? "error") : ending;
  const aside = kills === 0 ? "" : `, ${kills} ${kills === 1 ? "kill" : "kills"}`;
  return `${isRight ? `**${kind}**` : kind}, ${seconds.toFixed(0)} s${aside}`;
}

function details({ job, outcomes }: SurviveResult): string[] {
  return [...outcomes].flatMap(([engine, { detail }]) =>
    detail === "" ? [] : [`- ${job.name}, ${engine}: ${detail.replaceAll("\n", " ").slice(0, DETAIL_LENGTH)}`],
  );
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((one) => one.replaceAll("|", "\\|")).join(" | ")} |`;
}
