/** Findings of all rules, the gravest first. */
import type { Finding } from "../protocol/index.ts";
import type { ExaminedJob } from "./examined.ts";
import type { JobRule, OperatorRule } from "./rule.ts";
import { backpressure } from "./rules/backpressure.ts";
import { largeBlocks, smallBlocks } from "./rules/blocks.ts";
import { dominantFunction, filterFunction } from "./rules/functions.ts";
import { fullestOperator, memoryRetries, retries, spilling, unmanaged } from "./rules/memory.ts";
import { oneTask, skew } from "./rules/skew.ts";

const JOB_RULES: readonly JobRule[] = [fullestOperator, unmanaged, spilling];
const OPERATOR_RULES: readonly OperatorRule[] = [
  memoryRetries,
  retries,
  oneTask,
  skew,
  backpressure,
  largeBlocks,
  smallBlocks,
  filterFunction,
  dominantFunction,
];
const GRAVITY = { error: 0, warning: 1, info: 2 } as const;

export function diagnose(job: ExaminedJob): readonly Finding[] {
  const ofJob = JOB_RULES.map((rule) => rule(job));
  const ofOperators = OPERATOR_RULES.flatMap((rule) => job.operators.map((operator) => rule(operator, job)));
  return [...ofJob, ...ofOperators]
    .filter((finding) => finding !== null)
    .sort((a, b) => GRAVITY[a.severity] - GRAVITY[b.severity]);
}

const TITLES = { error: "Error", warning: "Warning", info: "Note" } as const;

/** Findings as text for people, each with its numbered remedies. */
export function findingsText(findings: readonly Finding[]): string {
  if (findings.length === 0) return "No findings: nothing in this run stands out.";
  return findings
    .map(({ severity, text, remedies }) =>
      [`${TITLES[severity]}: ${text}`, ...remedies.map((remedy, i) => `  ${i + 1}. ${remedy}`)].join("\n"),
    )
    .join("\n");
}
