/**
 * The figures of a job, made of the state that its events come to: how far it is, what was done, what memory is in use.
 * What the program is told, the dashboard, reports and `diagnose` all have their numbers from here.
 */
import {
  type JobMemoryNow,
  type JobNews,
  type JobStats,
  type Milliseconds,
  NO_MEMORY_YET,
  type OperatorKind,
  type OperatorStats,
  type Skipped,
  type Spread,
  type ToProgram,
} from "../protocol/index.ts";
import { type Shares, sharesOf } from "./shares.ts";
import type { Ends, JobView, OperatorTotals, SessionState } from "./state.ts";

const NOTHING_SKIPPED: Skipped = { files: 0, rowGroups: 0, rows: 0, columns: 0 };

/** A job that could not be started has no view, and no figures. */
export function withStats(state: SessionState, news: JobNews, at: Milliseconds): ToProgram {
  const job = state.jobs.get(news.job);
  return { ...news, stats: job === undefined ? noStats(state) : jobStats(state, job, at) };
}

/** `at`: the present time of a job that runs. */
export function jobStats(state: SessionState, job: JobView, at: Milliseconds = state.at): JobStats {
  const until = job.endedAt ?? Math.max(at, job.startedAt);
  const shares = sharesOf(state, job);
  return {
    operators: job.operators.map((totals) => operatorStats(totals, shares, until)),
    seconds: (until - job.startedAt) / 1000,
    workers: state.session?.workers ?? 0,
    memory: memoryNow(state),
    peakWorkerMemory: Math.max(job.peakWorkerMemory, ...job.operators.map(({ peakMemory }) => peakMemory)),
    peakSupervisorMemory: job.peakSupervisorMemory,
    peakProgramMemory: job.peakProgramMemory,
    peakStoreBytes: job.peakStoreBytes,
    peakUnmanaged: job.peakUnmanaged,
    grownUnmanaged: job.grownUnmanaged,
    spilledBytes: job.spilledBytes + job.kernelSpilled,
    restoredBytes: job.restoredBytes,
  };
}

function noStats(state: SessionState): JobStats {
  return {
    operators: [],
    seconds: 0,
    workers: state.session?.workers ?? 0,
    memory: memoryNow(state),
    ...NO_MEMORY_YET,
  };
}

/** With the wide kernel, which may use what it is lent. Before the first reading, limits are those of the start. */
function memoryNow({ workers, session, memory, store }: SessionState): JobMemoryNow {
  let used = 0;
  for (const { reading } of workers.values()) used += reading?.private ?? 0;
  const first = session?.workerMemory ?? null;
  return {
    workers: used,
    limit: memory === null ? first && first * (session?.workers ?? 0) : memory.limit,
    workerLimit: memory === null ? first : memory.workerLimit,
    store: store.inMemory,
    capacity: session?.capacity ?? 0,
    onDisk: store.onDisk,
  };
}

function operatorStats(totals: OperatorTotals, shares: Shares, until: Milliseconds): OperatorStats {
  const { plan, running, startedAt, leftAt, rowsOut, bytesOut, ends, soFar, tasksDone, tasksCut } = totals;
  const tasks = tasksDone + tasksCut;
  return {
    id: plan.id,
    name: plan.name,
    kind: kindOf(totals),
    tasks: totals.tasks,
    tasksDone,
    tasksRunning: running,
    share: shares.get(plan.id) ?? null,
    seconds: startedAt === null ? 0 : ((running > 0 ? until : leftAt) - startedAt) / 1000,
    ...(totals.isReplaced === true ? { ranAs: "exchange" } : {}),
    retries: totals.retries,
    oomRetries: totals.oomRetries,
    learned: totals.learned,
    appetite: totals.appetite,
    blocks: totals.blocks,
    rowsIn: totals.rowsIn + soFar.rowsIn,
    rowsOut: plan.kind === "slice" ? alone(rowsOut) : spread(ends.rowsOut, rowsOut, tasks, soFar.rowsOut),
    bytesOut: spread(ends.bytesOut, bytesOut, tasks, soFar.bytesOut),
    wall: spread(ends.wall, totals.wall, tasks),
    cpu: spread(ends.cpu, totals.cpu, tasksDone),
    errored: totals.errored,
    peakMemory: totals.peakMemory,
    addedMemory: totals.addedMemory,
    spilledBytes: totals.spilledBytes + totals.kernelSpilled,
    restoredBytes: totals.restoredBytes,
    ...(totals.byReference === null ? {} : { byReference: totals.byReference }),
    heldBy: totals.heldBy,
    heldBack: heldBackOf(totals, until),
    skipped: plan.recipe?.skipped ?? NOTHING_SKIPPED,
  };
}

function kindOf({ plan: { kind, place, recipe } }: OperatorTotals): OperatorKind {
  if (kind === "slice" || recipe === null) return { place: null, isSource: false, functions: [], batchSize: null };
  const { input, functions, batchSize } = recipe;
  return { place, isSource: input === "splits", functions, batchSize };
}

/** `more`: what running tasks have done so far. */
function spread({ min, max }: Ends, total: number, tasks: number, more = 0): Spread {
  return { min, max, mean: tasks === 0 ? 0 : total / tasks, total: total + more };
}

function alone(total: number): Spread {
  return { min: total, max: total, mean: total, total };
}

/** In seconds, with the time of the policy that holds it back now. */
function heldBackOf({ heldBack, heldBy, heldSince }: OperatorTotals, until: Milliseconds): OperatorStats["heldBack"] {
  const times = { ...heldBack };
  if (heldBy !== null && until > heldSince) times[heldBy] = (times[heldBy] ?? 0) + until - heldSince;
  return Object.fromEntries(Object.entries(times).map(([policy, time]) => [policy, time / 1000]));
}
