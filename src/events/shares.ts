/** How far the operators of a job are, from the state that its events come to. */
import type { OperatorId } from "../protocol/index.ts";
import type { JobView, OperatorTotals, SessionState, TaskView } from "./state.ts";

/** The part of each operator's work that is done, from 0 to 1; null: nobody knows how much there will be. */
export type Shares = ReadonlyMap<OperatorId, number | null>;

export function sharesOf({ tasks }: SessionState, job: JobView): Shares {
  const running = new Map<OperatorId, TaskView[]>();
  for (const task of job.endedAt === null ? tasks.values() : []) {
    if (task.job !== job.id || task.worker === null || task.isRepair) continue;
    const others = running.get(task.operator);
    if (others === undefined) running.set(task.operator, [task]);
    else others.push(task);
  }
  const shares = new Map<OperatorId, number | null>();
  const ended = new Set<OperatorId>();
  // Inputs stand before their users.
  for (const totals of job.operators) {
    const { id } = totals.plan;
    shares.set(id, shareOf(totals, running.get(id) ?? [], shares, ended));
    if (totals.ended) ended.add(id);
  }
  return shares;
}

function shareOf(
  { plan: { recipe }, ended, tasks, tasksDone }: OperatorTotals,
  running: readonly TaskView[],
  shares: Shares,
  endedInputs: ReadonlySet<OperatorId>,
): number | null {
  if (ended) return 1;
  if (recipe === null) return null;
  if (recipe.input === "all") return running[0]?.soFar?.share ?? null;
  const parts = tasksDone + running.reduce((sum, { soFar }) => sum + (soFar?.share ?? 0), 0);
  const done = tasks === 0 ? 0 : Math.min(1, parts / tasks);
  if (recipe.input === "splits") return done;
  if (recipe.input !== "operators") return recipe.flowsFrom.every((input) => endedInputs.has(input)) ? done : null;
  // Of what its inputs will make, tasks have been formed for the part that is there.
  let least = 1;
  for (const input of recipe.flowsFrom) {
    const share = shares.get(input) ?? null;
    if (share === null) return null;
    least = Math.min(least, share);
  }
  return done * least;
}
