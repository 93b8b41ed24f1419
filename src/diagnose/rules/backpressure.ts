/** An operator that had work and was not allowed to go on. */
import { policyWords } from "../../protocol/index.ts";
import { formatDuration } from "../../units/index.ts";
import type { ExaminedOperator } from "../examined.ts";
import { type OperatorRule, percent } from "../rule.ts";

/** From this share of the job's time on, backpressure is a warning. */
const MUCH = 0.1;

export const backpressure: OperatorRule = (operator, { duration }) => {
  const held = Object.entries(operator.heldBack)
    .filter(([, time]) => time >= 1)
    .sort(([, a], [, b]) => b - a);
  if (held.length === 0) return null;
  const total = held.reduce((sum, [, time]) => sum + time, 0);
  const share = duration > 0 ? Math.min(1, total / duration) : 0;
  const by = held.map(([policy, time]) => `${formatDuration(time)} by ${policyWords(policy)} (${policy})`);
  return {
    kind: "backpressure",
    severity: share >= MUCH ? "warning" : "info",
    operator: operator.id,
    text: `${operator.name} stood in backpressure for ${formatDuration(total)}, ${percent(share)} of the job: ${by.join("; ")}.`,
    remedies: remedies(operator, held[0]?.[0] ?? ""),
  };
};

function remedies({ batchSize, functions, bytesOut, blocks }: ExaminedOperator, policy: string): readonly string[] {
  const smaller =
    batchSize === null
      ? "Use a smaller batchSize for functions that take batches, so that they hold less at once."
      : `Use a smaller batchSize (${batchSize} now, for example ${Math.max(1, Math.round(batchSize / 4))}), so that the function holds less at once.`;
  const which = functions.length === 0 ? "the slower operator" : "the slower function";
  const concurrency = `Give ${which} more concurrency, or the session more workers.`;
  const memory = "Give more memory per task (the option memory), or the store more room (objectStoreMemory).";
  const mean = blocks === 0 ? "" : `, now about ${Math.round(bytesOut / blocks / 1024).toLocaleString("en")} KiB each`;
  const blocksSmaller = `Make smaller blocks (targetMaxBlockSize${mean}).`;
  if (policy.startsWith("Concurrency") || policy.startsWith("Downstream")) {
    return [concurrency, smaller, memory, blocksSmaller];
  }
  return [smaller, concurrency, memory, blocksSmaller];
}
