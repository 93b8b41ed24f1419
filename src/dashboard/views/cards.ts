/** The entries of the board, made anew from the model as the plain data that api.ts describes. */
import { readdirSync } from "node:fs";
import type { JobView, OperatorTotals, SessionState, WorkerView } from "../../events/index.ts";
import { colourOf, planFigures, planRows } from "../../memory/index.ts";
import { type Milliseconds, type OperatorId, policyWords } from "../../protocol/index.ts";
import { shortened } from "../../report/index.ts";
import type { JobCard, Kinds, OperatorNow, SessionCard, TotalsCard, WorkerCard } from "../api.ts";
import { type SessionModel, sumOfKinds } from "../model/index.ts";

export interface Place {
  /** The directory with the session's logs. */
  readonly logs: string;
}

const NO_KINDS: Kinds = { process: 0, managed: 0, unmanaged: 0, recent: 0, spilled: 0 };

export function sessionCard(
  model: SessionModel,
  { logs }: Place,
  left: { jobs: number; happened: number },
): SessionCard {
  const state = model.now;
  const { session } = state;
  return {
    name: session?.session ?? "",
    status: model.status,
    epoch: session?.epoch ?? 0,
    at: state.at,
    host: session?.host ?? "",
    node: session?.node ?? "",
    supervisor: session?.pid ?? 0,
    program: session?.program ?? 0,
    slots: session?.workers ?? 0,
    kernelThreads: session?.kernelThreads ?? 0,
    thresholds: session?.thresholds ?? {},
    nodeThreshold: session?.nodeThreshold ?? null,
    memoryPlan: session === null ? [] : planRows(planFigures(session)),
    directory: logs,
    leftOut: { events: model.missed, ...left },
  };
}

export function totalsCard(model: SessionModel): TotalsCard {
  const state = model.now;
  const { memory, node, store, session } = state;
  const readings = [...state.workers.values()].flatMap(({ reading }) => reading ?? []);
  return {
    kinds: readings.length === 0 ? NO_KINDS : sumOfKinds(readings),
    workerLimit: session?.workerMemory ?? null,
    program: memory?.program.private ?? 0,
    supervisor: memory?.supervisor.private ?? 0,
    node,
    store: {
      capacity: session?.capacity ?? 0,
      resident: memory?.store.resident ?? 0,
      onDisk: memory?.store.onDisk ?? 0,
      files: memory?.store.files ?? 0,
      blocks: state.blocks.size,
    },
    spilledBytes: store.spilledBytes,
    restoredBytes: store.restoredBytes,
    tasks: tasksOf(state),
    ...model.deaths,
  };
}

function tasksOf(state: SessionState): TotalsCard["tasks"] {
  let [running, waiting, done] = [0, 0, 0];
  for (const { operators } of state.jobs.values()) {
    for (const totals of operators) {
      running += totals.running;
      waiting += waitingOf(totals);
      done += totals.tasksDone;
    }
  }
  return { running, waiting, done };
}

function waitingOf({ ended, formed, running, tasksDone, failed }: OperatorTotals): number {
  return ended ? 0 : Math.max(0, formed - running - tasksDone - failed);
}

export function workerCard(model: SessionModel, worker: WorkerView, descriptors: number | null): WorkerCard {
  const { id, kind, pid, phase, limit, reading, startedAt, task: taskId } = worker;
  const state = model.now;
  const task = taskId === null ? undefined : state.tasks.get(taskId);
  return {
    id,
    kind,
    pid,
    phase,
    pressure: reading?.pressure ?? "normal",
    colour: workerColour(state, worker),
    limit,
    kinds: reading === null ? null : kindsOf(reading),
    private: reading?.private ?? 0,
    children: reading?.children ?? 0,
    startedAt,
    restarts: model.lanes.of(id)?.before ?? 0,
    descriptors,
    task:
      task === undefined
        ? null
        : { id: task.id, operator: model.nameOf(task.job, task.operator), startedAt: task.startedAt ?? task.since },
  };
}

function kindsOf({ process, managed, unmanaged, recent, spilled }: Kinds): Kinds {
  return { process, managed, unmanaged, recent, spilled };
}

function workerColour({ session }: SessionState, { phase, limit, kind, reading }: WorkerView): WorkerCard["colour"] {
  const { target = false, spill = false, pause = false, terminate = false } = session?.thresholds ?? {};
  // The memory ladder does not apply to the wide kernel.
  const most = kind === "wide" ? null : limit;
  const colour = colourOf(
    reading?.pressure ?? "normal",
    phase === "stopping",
    reading?.process ?? 0,
    most ?? Number.POSITIVE_INFINITY,
    { target, spill, pause, terminate },
  );
  return colour === "grey" ? "blue" : colour;
}

/** Number of a process's open files and sockets. Null when the process has ended or belongs to another user. */
export function descriptorsOf(pid: number): number | null {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
}

export function jobCard({ status, time }: SessionModel, job: JobView): JobCard {
  const { id, startedAt, phase, rows, rowsDelivered, operators } = job;
  const isCutOff = job.endedAt === null && status !== "running";
  const ids = operators.map(({ plan }) => plan.id);
  const outcome = isCutOff ? "cut off" : job.outcome;
  const endedAt = isCutOff ? time : job.endedAt;
  const error = job.error === null ? null : { name: job.error.name, message: shortened(job.error.message) };
  return { id, startedAt, endedAt, phase, outcome, error, rows, rowsDelivered, operators: ids };
}

/** How far an operator is, and the time that its running tasks have taken so far. */
interface Progress {
  readonly share: number | null;
  readonly underWay: Milliseconds;
}

export function timeUnderWay({ now, time }: SessionModel, job: JobView): ReadonlyMap<OperatorId, Milliseconds> {
  const times = new Map<OperatorId, Milliseconds>();
  if (job.endedAt !== null) return times;
  for (const { job: of, operator, startedAt, worker } of now.tasks.values()) {
    if (of !== job.id || worker === null || startedAt === null) continue;
    times.set(operator, (times.get(operator) ?? 0) + Math.max(0, time - startedAt));
  }
  return times;
}

export function operatorNow(
  model: SessionModel,
  job: JobView,
  totals: OperatorTotals,
  { share, underWay }: Progress,
): OperatorNow {
  const { plan, tasksDone, heldBy, heldSince, heldBack } = totals;
  const { ended, tasks, formed, running, failed, retries, oomRetries, soFar, startedAt } = totals;
  const { wall, cpu, ends, errored, peakMemory, addedMemory } = totals;
  const figures = model.figuresOf(job.id, plan.id);
  const rates = figures.rates(model.time, startedAt);
  return {
    ...{ job: job.id, id: plan.id, ended, tasks, formed, waiting: waitingOf(totals), running, done: tasksDone },
    share: share === null ? null : Math.round(share * 1_000) / 1_000,
    ...{ failed, retries, oomRetries },
    rowsIn: totals.rowsIn + soFar.rowsIn,
    rowsOut: totals.rowsOut + soFar.rowsOut,
    bytesOut: totals.bytesOut + soFar.bytesOut,
    rowsPerSecond: Math.round(rates.rows),
    bytesPerSecond: Math.round(rates.bytes),
    startedAt,
    endedAt: ended && startedAt !== null ? totals.leftAt : null,
    ...{ wall: Math.round(wall + underWay), cpu, longest: ends.wall.max, errored, peakMemory, addedMemory },
    appetite: totals.appetite?.bytes ?? null,
    memoryNow: figures.memoryNow,
    queuedBlocks: figures.queuedBlocks,
    queuedBytes: figures.queuedBytes,
    spilledBlocks: figures.spilledBlocks,
    spilledBytes: totals.spilledBytes,
    restoredBytes: totals.restoredBytes,
    heldBy: heldBy === null ? null : policyWords(heldBy),
    heldSince,
    heldBack: Object.fromEntries(Object.entries(heldBack).map(([policy, time]) => [policyWords(policy), time])),
  };
}
