/** What tasks request: compared, shown, and refused while planning if no session of this size could ever grant it. */
import { OptionError } from "../errors/index.ts";
import { functionLabel } from "../plan/index.ts";
import type { ResourceRequest } from "../protocol/index.ts";
import { formatSize } from "../units/index.ts";
import type { TaskStage } from "./stage.ts";

export function sameRequest(a: ResourceRequest, b: ResourceRequest): boolean {
  return a.cpu === b.cpu && a.gpu === b.gpu && a.memory === b.memory;
}

/** One core and nothing else, which need not be shown. */
export function isUsual(request: ResourceRequest): boolean {
  return sameRequest(request, { cpu: 1, gpu: 0, memory: 0 });
}

/** "2 CPU, 1 GPU, 4.0 GiB memory" */
export function requestText({ cpu, gpu, memory }: ResourceRequest): string {
  const parts = [`${cpu} CPU`];
  if (gpu > 0) parts.push(`${gpu} GPU`);
  if (memory > 0) parts.push(`${formatSize(memory)} memory`);
  return parts.join(", ");
}

const REMEDIES = [
  { key: "cpu", option: "numCpus", text: String, more: "more workers, or a larger resourceLimits.cpu" },
  { key: "gpu", option: "numGpus", text: String, more: "a larger resourceLimits.gpu" },
  { key: "memory", option: "memory", text: formatSize, more: "a larger resourceLimits.memory" },
] as const;

/** Throws if a task of the stage would wait for ever. */
export function assertPossible(stage: Pick<TaskStage, "name" | "request" | "steps">, total: ResourceRequest): void {
  for (const { key, option, text, more } of REMEDIES) {
    if (stage.request[key] <= total[key]) continue;
    const fn = stage.steps.findLast((step) => step.kind === "function");
    const name = fn?.kind === "function" ? functionLabel(fn.node) : stage.name;
    // A stage without functions needs one core, whatever the session has.
    const remedy = fn === undefined ? `Give the session ${more}.` : `Lower ${option}, or give the session ${more}.`;
    throw new OptionError(
      `${name}: a task needs ${option} ${text(stage.request[key])}, but the session has ${text(total[key])} in total. ${remedy}`,
    );
  }
}
