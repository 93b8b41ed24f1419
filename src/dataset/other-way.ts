/**
 * Plans another way for an operator of a running job, when the wide kernel has run out of memory for it. Later such
 * plans build on earlier ones: an operator that was replaced is not read any more.
 */
import type { Bytes, Operator, OperatorId } from "../protocol/index.ts";
import { jobSpec, otherWay, type Planning, type Stage, type Stages } from "../stages/index.ts";
import type { RunOptions } from "./engine.ts";

type JobContext = Parameters<typeof jobSpec>[1];

export function otherWays(
  { stages, notFused }: Stages,
  planning: Partial<Planning>,
  context: JobContext,
): RunOptions["otherWay"] {
  let all: readonly Stage[] = stages;
  const instead = new Map<OperatorId, OperatorId>();
  return async (operator: OperatorId, made: ReadonlyMap<OperatorId, Bytes>): Promise<readonly Operator[]> => {
    const before = all.map((stage) => readingInstead(stage, instead));
    const after = await otherWay(before, operator, planning, made);
    const sink = operator === stages.length - 1 ? context.sink : context.blocks;
    all = after;
    instead.set(operator, after.length - 1);
    return jobSpec({ stages: after, notFused }, { ...context, sink }).operators.slice(before.length);
  };
}

function readingInstead(stage: Stage, instead: ReadonlyMap<OperatorId, OperatorId>): Stage {
  if (stage.kind !== "tasks" || stage.region === null || instead.size === 0) return stage;
  const fed = stage.region.fed.map((part) => ({
    ...part,
    operators: part.operators.map((id) => instead.get(id) ?? id),
  }));
  return { ...stage, region: { ...stage.region, fed } };
}
