/** A job from its start to its end: its operators wired up, its phases, what the program is told. */

import { CancelledError, OptionError, StoreError, toWire, type WireError } from "../../errors/index.ts";
import type { FileSink, JobId, JobSpec, OperatorId, WrittenFile } from "../../protocol/index.ts";
import {
  cancelTask,
  closeEdge,
  dropBroadcast,
  dropTask,
  edgeFrom,
  endIfDone,
  endOperator,
  fedState,
  forgetLost,
  repairGivenUp,
  repairOver,
} from "../flow/index.ts";
import { learn } from "../needs/index.ts";
import { addJob, failJob, moveJob, takeFailing } from "../phases/index.ts";
import {
  inputsOf,
  type JobState,
  newJob,
  newOperator,
  nextOrder,
  note,
  type OperatorState,
  orderedOperators,
  outputOf,
  PROGRESS_INTERVAL,
  QUIET_PROGRESS_INTERVAL,
  type State,
  type TaskState,
  tellNews,
} from "../state/index.ts";
import { MAX_BUNDLE } from "./other-way.ts";
import { planOf } from "./plan-of.ts";

export function startJob(state: State, spec: JobSpec): void {
  try {
    if (state.jobs.has(spec.id)) throw new OptionError(`There is a job ${spec.id} already.`);
    for (const id of spec.holds) {
      if (!state.ledger.has(id)) {
        throw new StoreError(
          `The rows to read are gone (block ${id}): the materialised dataset that held them was disposed of. Call dispose() only when ` +
            "every dataset built on it has been read: after a loop over its windows, not inside it.",
        );
      }
    }
    const job = wire(state, spec);
    for (const id of spec.holds) state.ledger.retain(id, job.holders.inputs);
    addJob(state, job);
    noteStarted(state, job);
    begin(state, job);
  } catch (error) {
    if (!(error instanceof OptionError) && !(error instanceof StoreError)) throw error;
    noteFailed(state, spec.id, toWire(error));
    tellNews(state, { type: "failed", job: spec.id, error: toWire(error) });
  }
}

function noteStarted(state: State, { id, operators }: JobState): void {
  note(state, { type: "jobStarted", job: id, operators: operators.map(planOf) });
}

function noteFailed(state: State, job: JobId, { name, message }: WireError): void {
  note(state, { type: "jobFailed", job, error: { name, message } });
}

function begin(state: State, job: JobState): void {
  const sinks = fileSinks(job);
  if (sinks.length > 0) state.commands.push({ type: "stage", job: job.id, sinks });
  const { error } = state.starts;
  if (error !== null) {
    failJob(state, job, error);
    return;
  }
  for (const operator of job.operators) {
    if (operator.spec.kind === "slice" && operator.spec.limit === 0) endOperator(state, operator);
    else endIfDone(state, operator);
  }
}

function wire(state: State, spec: JobSpec): JobState {
  const job = newJob(state, spec, nextOrder(state));
  const ordered = orderedOperators(spec);
  const byId = new Map<OperatorId, OperatorState>();
  for (const [depth, operator] of spec.operators.entries()) {
    const place = { depth, ordered: ordered.has(operator.id) };
    const fed = operator.kind === "tasks" ? fedState(operator) : null;
    const made = newOperator(job, operator, place, fed, state.ledger.capacity * MAX_BUNDLE);
    if (operator.kind === "tasks") learn(state, made, operator.learned);
    for (const { id, table, isBroadcast } of inputsOf(operator)) {
      const producer = byId.get(id);
      if (producer === undefined)
        throw new OptionError(`${operator.name} needs operator ${id}, which is not listed before it.`);
      (isBroadcast ? made.edges.broadcasts : made.edges.inputs).push(edgeFrom(producer, made, table, isBroadcast));
    }
    byId.set(operator.id, made);
    job.operators.push(made);
  }
  const last = job.operators.at(-1);
  if (last === undefined) throw new OptionError(`The job ${spec.id} has no operators.`);
  edgeFrom(last, null);
  return job;
}

function fileSinks(job: JobState): readonly FileSink[] {
  return job.operators.flatMap(({ spec, way }) => {
    return spec.kind === "tasks" && spec.sink.kind === "files" && way.kind !== "exchange" ? [spec.sink] : [];
  });
}

/**
 * Ends the jobs that cannot go on. The program is told at once, but of a job that writes files only when its files are
 * removed.
 */
export function endFailing(state: State): void {
  for (const job of takeFailing(state)) {
    if (job.error !== null) noteFailed(state, job.id, job.error);
    stop(state, job);
    if (fileSinks(job).length === 0) tellFailed(state, job);
  }
}

/**
 * The program cancels the job. Files that are being moved to their place all get there: half of them would be worse
 * than all.
 */
export function cancelJob(state: State, job: JobState, tells: boolean): void {
  job.report.told = !tells;
  if (job.phase !== "running") return;
  if (tells) failJob(state, job, toWire(new CancelledError("The job was cancelled.")));
  else stop(state, job);
}

function stop(state: State, job: JobState): void {
  moveJob(state, job, "stopping");
  dropRepairs(state, job);
  for (const operator of [...job.operators].reverse()) endOperator(state, operator);
  closeEdge(state, outputOf(job));
}

function dropRepairs(state: State, job: JobState): void {
  for (const { phases } of job.operators) for (const task of phases.repairing) cancelTask(state, task);
  for (const task of repairsOf(state, job)) {
    dropTask(state, task);
    repairOver(state, task);
  }
}

/** Tasks that are to make a lost block of the job again, and have no worker. */
function repairsOf(state: State, job: JobState): readonly TaskState[] {
  const held = job.operators.flatMap(({ phases: { fetching, aside } }) => [...fetching, ...aside]);
  return [...state.phases.repairs, ...held].filter(({ repairs, operator }) => repairs !== null && operator.job === job);
}

function tellFailed(state: State, job: JobState): void {
  if (job.report.told || job.error === null) return;
  job.report.told = true;
  tellNews(state, { type: "failed", job: job.id, error: job.error });
}

/** Moves the job to its next phase where nothing keeps it in this one. */
export function settleJob(state: State, job: JobState): void {
  if (job.phase === "running") {
    const output = outputOf(job);
    if (!output.ended || output.queue.length > 0) return;
    if (
      job.operators.some(
        (operator) => operator.phases.retiring.size > 0 || (operator.isClass && operator.phases.running.size > 0),
      )
    ) {
      return;
    }
    const sinks = fileSinks(job);
    if (sinks.length > 0) {
      moveJob(state, job, "committing");
      const outputs = job.operators.flatMap((operator) => {
        const { spec, way } = operator;
        return spec.kind === "tasks" && spec.sink.kind === "files" && way.kind !== "exchange"
          ? [{ sink: spec.sink, files: filesOf(operator) }]
          : [];
      });
      state.commands.push({ type: "commit", job: job.id, outputs });
    } else finishJob(state, job);
  }
  if (job.phase === "stopping" && job.phases.runningTasks === 0) {
    const sinks = fileSinks(job);
    // No task can be writing there any more.
    if (sinks.length > 0) {
      moveJob(state, job, "discarding");
      state.commands.push({ type: "discard", job: job.id, sinks });
    } else leave(state, job);
  }
}

export function jobCommitted(state: State, job: JobState, error: WireError | null): void {
  if (job.phase !== "committing") return;
  if (error !== null) failJob(state, job, error);
  else finishJob(state, job);
}

export function jobDiscarded(state: State, job: JobState): void {
  if (job.phase !== "discarding") return;
  tellFailed(state, job);
  leave(state, job);
}

function finishJob(state: State, job: JobState): void {
  note(state, { type: "jobFinished", job: job.id, rows: rowsOut(job) });
  if (!job.report.told) {
    job.report.told = true;
    tellNews(state, { type: "finished", job: job.id, rows: rowsOut(job), files: job.operators.flatMap(filesOf) });
  }
  // Tasks that a satisfied slice has cancelled may still be ending; what they read is kept until they have.
  if (job.phases.runningTasks === 0) leave(state, job);
  else moveJob(state, job, "stopping");
}

function leave(state: State, job: JobState): void {
  // Nobody in the job waits for these blocks any more.
  for (const task of repairsOf(state, job)) {
    dropTask(state, task);
    repairGivenUp(state, task);
  }
  for (const operator of job.operators) dropBroadcast(state, operator);
  for (const id of job.spec.holds) state.ledger.release(id, job.holders.inputs);
  const holders = [job.holders.queues, job.holders.tasks, job.holders.kept];
  const left = holders.reduce((sum, holder) => sum + state.ledger.holds(holder).references, 0);
  const live = job.operators.reduce((sum, operator) => sum + operator.budget.liveBytes, 0);
  if (left !== 0 || live !== 0) {
    throw new StoreError(`The job ${job.id} has ended and still holds ${left} references and ${live} bytes.`);
  }
  forgetLost(state);
  moveJob(state, job, "gone");
}

function rowsOut(job: JobState): number {
  const last = job.operators.at(-1);
  if (last?.spec.kind === "tasks" && last.spec.sink.kind !== "blocks") return last.result.rows;
  return job.output.rowsDelivered;
}

/** A file without rows is kept only if it is the only one: it tells the columns, which any file with rows does, too. */
function filesOf({ result: { files } }: OperatorState): readonly WrittenFile[] {
  const filled = files.filter(({ rows }) => rows !== 0);
  return filled.length > 0 ? filled : files.slice(0, 1);
}

export function tellProgress(state: State, job: JobState): void {
  const { changed, told, progressAt } = job.report;
  // Memory and time change even if no task has anything to report.
  if (told || state.now < progressAt + (changed ? PROGRESS_INTERVAL : QUIET_PROGRESS_INTERVAL)) return;
  job.report.changed = false;
  job.report.progressAt = state.now;
  noteProgress(state, job);
  tellNews(state, { type: "progress", job: job.id });
}

function noteProgress(state: State, { id, report }: JobState): void {
  const progressed = [...report.progressed];
  report.progressed.clear();
  if (progressed.length === 0) return;
  const tasks = progressed.flatMap(({ id: task, run: { progress } }) =>
    progress === null ? [] : [{ task, ...progress }],
  );
  note(state, { type: "taskProgress", job: id, tasks });
}
