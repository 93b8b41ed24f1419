/** Event files of sessions that were never run: as many tasks as a test needs, and the names that it needs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BlockId, JobId, OperatorId, RecordedEvent, TaskId, WorkerId } from "../../src/protocol/index.ts";
import { inventedStart, TEN_ROWS } from "../support/invented-events.ts";

export interface Invented {
  readonly operators: readonly string[];
  readonly workers: number;
  readonly tasks: number;
  readonly error?: string;
}

const JOB = "j0" as JobId;

/** Tasks of 10 ms go round the workers; a block a task, every tenth of them to disk and back. */
export function* inventedEvents({ operators, workers, tasks, error }: Invented): Iterable<RecordedEvent> {
  const settings = [{ path: "workers", value: String(workers), from: "<b>session</b>" }];
  yield* inventedStart(workers, { host: "<i>host</i>", settings });
  const plans = operators.map((name, id) => ({
    id: id as OperatorId,
    name,
    kind: "tasks" as const,
    place: "worker" as const,
    input: id === 0 ? ("splits" as const) : ("blocks" as const),
    inputs: id === 0 ? [] : [(id - 1) as OperatorId],
    tasks,
    recipe: null,
  }));
  yield { at: 3, type: "jobStarted", job: JOB, operators: plans };
  for (let index = 0; index < tasks; index++) {
    const [task, worker] = [`${JOB}/0/${index}` as TaskId, ((index % workers) + 1) as WorkerId];
    const at = 10 + Math.floor(index / workers) * 10;
    const operator = (index % operators.length) as OperatorId;
    const block = (index + 1) as BlockId;
    yield { at, type: "taskFormed", task, job: JOB, operator, index, bytesIn: 100 };
    yield { at, type: "task", task, to: "running", worker };
    yield { at: at + 5, type: "blockMade", block, bytes: 1000, rows: 10, task, worker };
    if (index % 10 === 0) {
      yield { at: at + 5, type: "block", block, to: "spilling" };
      yield { at: at + 6, type: "block", block, to: "spilled" };
      yield { at: at + 7, type: "block", block, to: "restoring" };
      yield { at: at + 8, type: "block", block, to: "resident" };
    }
    const figures = { ...TEN_ROWS, bytesOut: 1000, wall: 9, cpu: 8, peakMemory: 5000, addedMemory: 1000 };
    yield { at: at + 9, type: "taskDone", task, ...figures };
    yield { at: at + 9, type: "task", task, to: "over" };
    yield { at: at + 9, type: "blockFreed", block };
  }
  const end = 30 + Math.ceil(tasks / workers) * 10;
  if (error === undefined) yield { at: end, type: "jobFinished", job: JOB, rows: tasks * 10 };
  else yield { at: end, type: "jobFailed", job: JOB, error: { name: "FunctionError", message: error } };
  yield { at: end, type: "job", job: JOB, to: "gone" };
  yield { at: end + 1, type: "sessionEnded" };
}

/** The directory of the session's logs. */
export function writeInvented(root: string, name: string, invented: Invented): string {
  const directory = join(root, name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lines = Array.from(inventedEvents(invented), (event) => `${JSON.stringify(event)}\n`);
  writeFileSync(join(directory, "events.jsonl"), lines.join(""), { mode: 0o600 });
  return directory;
}
