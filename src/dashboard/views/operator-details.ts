/** The page of one operator: its card, its longest and fullest tasks, its memory over time. */
import { diagnoseStats } from "../../diagnose/index.ts";
import { jobStats, sharesOf } from "../../events/index.ts";
import { NO_PROGRESS } from "../../protocol/index.ts";
import type { OperatorDetails, TaskCard } from "../api.ts";
import type { SessionModel } from "../model/index.ts";
import { operatorNow, timeUnderWay } from "./cards.ts";

/** Null when there is no such operator. */
export function operatorDetails(model: SessionModel, job: string, operator: string): OperatorDetails | null {
  const view = [...model.now.jobs.values()].find(({ id }) => id === job);
  const totals = view?.operators.find(({ plan }) => String(plan.id) === operator);
  if (view === undefined || totals === undefined) return null;
  const figures = model.figuresOf(view.id, totals.plan.id);
  const running = [...model.now.tasks.values()].filter(
    (task) => task.worker !== null && task.job === view.id && task.operator === totals.plan.id,
  );
  const tasks = new Map<string, TaskCard>();
  for (const { id, index, worker, phase, startedAt, bytesIn, soFar } of running) {
    const { rowsIn, rowsOut, bytesOut, memory, peakMemory } = soFar ?? NO_PROGRESS;
    const attempts = model.attemptsOf(id);
    const so = { rowsIn, rowsOut, bytesOut, memory, peakMemory, attempts };
    tasks.set(id, { id, index, worker, phase, startedAt, endedAt: null, bytesIn, ...so });
  }
  const { memory, leftOut } = figures.curves.fullest();
  for (const card of [...figures.longest.items, ...figures.fullest.items]) tasks.set(card.id, card);
  const progress = {
    share: sharesOf(model.now, view).get(totals.plan.id) ?? null,
    underWay: timeUnderWay(model, view).get(totals.plan.id) ?? 0,
  };
  return {
    card: {
      ...operatorNow(model, view, totals, progress),
      plan: totals.plan,
    },
    tasks: [...tasks.values()],
    tasksLeftOut: Math.max(0, figures.longest.seen + running.length - tasks.size),
    memory,
    memoryLeftOut: leftOut,
    findings: diagnoseStats(jobStats(model.now, view, model.time)).filter(
      (finding) => finding.operator === totals.plan.id || finding.operator === null,
    ),
  };
}
