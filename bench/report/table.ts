/** Verdicts as text: an aligned table for the terminal, a Markdown page to keep. */
import type { WorkloadResult } from "../harness/index.ts";
import type { Facts } from "./facts.ts";
import type { Verdict } from "./judge.ts";

const HEADER = ["workload", "rows", "figure", "ours", "peer", "theirs", "ratio", "target", "met"] as const;

const figures = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });
const counts = new Intl.NumberFormat("en-US");

function cells(verdict: Verdict): string[] {
  const value = (number: number | null): string =>
    number === null ? "–" : `${figures.format(number)} ${verdict.unit}`;
  return [
    verdict.workload,
    counts.format(verdict.rows),
    verdict.figure,
    value(verdict.ours),
    verdict.peer ?? "",
    verdict.peer === null ? "" : verdict.theirs === null ? "failed" : value(verdict.theirs),
    verdict.ratio === null ? "" : `${figures.format(verdict.ratio)}×`,
    verdict.target,
    verdict.met === null ? "" : verdict.met ? "yes" : "NO",
  ];
}

export function asTable(verdicts: readonly Verdict[]): string {
  return aligned(HEADER, verdicts.map(cells));
}

/** Columns as wide as their widest cell, a line below the header. */
export function aligned(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  text.splice(1, 0, widths.map((width) => "─".repeat(width)).join("  "));
  return `${text.join("\n")}\n`;
}

export function asMarkdown(facts: Facts, results: readonly WorkloadResult[], verdicts: readonly Verdict[]): string {
  const row = (line: readonly string[]): string => `| ${line.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const peers = Object.entries(facts.peers).map(([name, version]) => `${name} ${version}`);
  return `# Benchmark of ${facts.date.slice(0, 16).replace("T", " ")} UTC

Commit ${facts.commit}; ${facts.cores} cores (${facts.cpu}), ${figures.format(facts.memory / 2 ** 30)} GiB; Node ${facts.node}.
Peers: ${peers.length === 0 ? "none" : peers.join(", ")}. Ratio is theirs / ours: above 1 we are faster.

${row(HEADER)}
${row(HEADER.map(() => "---"))}
${verdicts.map((verdict) => row(cells(verdict))).join("\n")}

## What was done
${results.map(({ workload }) => `- ${workload.name}: ${workload.title}`).join("\n")}

## Memory at its peak, MB
A total is Σ(RSS − SHR) of an engine's processes at one moment, and the largest SHR once.

| workload | engine | total | largest private | largest resident | processes |
| --- | --- | --- | --- | --- | --- |
${results.flatMap(memoryRows).join("\n")}
${notes(results, verdicts)}`;
}

function memoryRows(result: WorkloadResult): string[] {
  const megabytes = (bytes: number): string => figures.format(bytes / 1e6);
  return result.engines.flatMap((engine) => {
    if (engine.measurements.length === 0) {
      return [];
    }
    const processes = engine.measurements.flatMap((measurement) => measurement.memory.processes);
    const most = (of: (measurement: (typeof engine.measurements)[number]) => number): number =>
      Math.max(0, ...engine.measurements.map(of));
    const largest = (kind: "private" | "resident"): number => Math.max(0, ...processes.map((process) => process[kind]));
    return [
      `| ${result.workload.name} | ${engine.engine} | ${megabytes(most((m) => m.memory.total))} | ${megabytes(largest("private"))} | ${megabytes(largest("resident"))} | ${most((m) => m.memory.processes.length)} |`,
    ];
  });
}

function notes(results: readonly WorkloadResult[], verdicts: readonly Verdict[]): string {
  const lines = [
    ...results.flatMap((result) => result.disagreements.map((text) => `${result.workload.name}: ${text}`)),
    ...new Set(
      verdicts.filter((verdict) => verdict.note !== "").map((verdict) => `${verdict.workload}: ${verdict.note}`),
    ),
  ];
  return lines.length === 0 ? "" : `\n## Notes\n${lines.map((line) => `- ${line.replaceAll("\n", " ")}`).join("\n")}\n`;
}
