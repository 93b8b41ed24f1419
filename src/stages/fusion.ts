/** Decides whether a function joins the operator before it, and gives the reason for explain when it does not. */
import { type FunctionNode, functionLabel } from "../plan/index.ts";
import { functionsIn } from "./draft.ts";
import { requestText, sameRequest } from "./request.ts";
import type { TaskStage } from "./stage.ts";
import { makesShortBatches } from "./whole-batches.ts";

export function whyNotFused(draft: TaskStage, node: FunctionNode): string | null {
  const label = functionLabel(node);
  const before = draft.name;
  const functions = functionsIn(draft);
  if (draft.input.kind === "fed")
    return `${label} goes row by row (one-to-one), ${before} needs all rows (all-to-all) first.`;
  if (isFilledLater(draft, node)) {
    return `${label} takes ${node.options.batchSize} rows at a time, which are put together from what ${before} leaves of several blocks.`;
  }
  const strangers = functions.find(({ fn }) => fn.isClass !== node.fn.isClass);
  if (strangers !== undefined) {
    const [one, other] = node.fn.isClass ? ["a class function", "a plain one"] : ["a plain function", "a class"];
    return `${label} is ${one}, ${functionLabel(strangers)} ${other}: classes keep their workers for themselves.`;
  }
  if (!sameConcurrency(draft, node)) {
    return `${label} has concurrency ${concurrencyText(node.concurrency)}, ${before} ${concurrencyText(draft.concurrency)}.`;
  }
  if (!sameRequest(draft.request, node.request)) {
    return `${label} needs ${requestText(node.request)}, ${before} ${requestText(draft.request)}.`;
  }
  for (const option of ["maxRetries", "maxOomRetries"] as const) {
    if (functions.length === 0 || draft[option] === node[option]) continue;
    return `${label} has ${option} ${node[option] ?? "of the session"}, ${before} ${draft[option] ?? "of the session"}.`;
  }
  return null;
}

/** Blocks from the store, of which a filter leaves too few rows to fill batches. */
function isFilledLater({ input, mayMerge, steps, keepsRows }: TaskStage, { form, options }: FunctionNode): boolean {
  if (form !== "mapBatches" || keepsRows || steps.length > 0) return false;
  return input.kind === "splits" && mayMerge && makesShortBatches(input.splits, options.batchSize);
}

function sameConcurrency(draft: TaskStage, node: FunctionNode): boolean {
  return draft.concurrency?.min === node.concurrency?.min && draft.concurrency?.max === node.concurrency?.max;
}

function concurrencyText(concurrency: FunctionNode["concurrency"]): string {
  if (concurrency === null) return "of the session";
  return concurrency.min === concurrency.max ? String(concurrency.max) : `${concurrency.min} to ${concurrency.max}`;
}
