/**
 * Checks that the thresholds of a worker's ladder rise: a threshold below the previous one would be passed out of turn.
 */
import { OptionError } from "../errors/index.ts";
import type { Thresholds } from "../protocol/index.ts";
import type { Source } from "./source.ts";

const STEPS = ["target", "spill", "pause", "terminate"] as const;

export function checkThresholds(thresholds: Thresholds, sources: ReadonlyMap<string, Source>): void {
  const steps = STEPS.flatMap((name) => {
    const share = thresholds[name];
    return share === false ? [] : [{ path: `worker.memory.${name}`, share }];
  });
  const said = ({ path, share }: { path: string; share: number }) =>
    `${path} of ${share} (${sources.get(path)?.name ?? "the default"})`;
  for (const [at, step] of steps.entries()) {
    const before = steps[at - 1];
    if (before === undefined || step.share >= before.share) continue;
    throw new OptionError(
      `${said(step)} is below ${said(before)}: the thresholds must rise from ${STEPS.join(" to ")}, or be false. Raise the first or lower the second.`,
    );
  }
}
