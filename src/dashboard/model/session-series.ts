/** What is known over time: the session's memory by kind, the node, the store, the operators, and deaths. */
import type { Milliseconds, RecordedEvent, WorkerMemoryReading } from "../../protocol/index.ts";
import type { SessionModel } from "./model.ts";
import type { OperatorFigures } from "./operator-figures.ts";
import { Peaks } from "./peaks.ts";
import { fuller, highest, highestOf, PointSeries } from "./series.ts";

/** A little less than the 200 ms between two readings, because some come early. */
const READING: Milliseconds = 150;
const SECOND: Milliseconds = 1_000;

/** Operators whose peaks are known, and operators in one point of the series: far more than a chart shows. */
const KEPT_PEAKS = 200;
const IN_A_POINT = 50;

type Of<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

export class SessionSeries {
  /** Operators that had memory at the last reading. */
  readonly measured = new Set<OperatorFigures>();
  readonly memory = new PointSeries(READING, fuller("process"));
  readonly node = new PointSeries(READING, fuller("used"));
  readonly store = new PointSeries(READING, fuller("resident"));
  /** Counted since the start, so the higher value of two is the later one. */
  readonly deaths = new PointSeries(SECOND, highest);
  readonly operators = new PointSeries(READING, highestOf(IN_A_POINT));
  /** Of operators. */
  readonly peaks = new Peaks(KEPT_PEAKS);
}

export function sumOfKinds(workers: readonly WorkerMemoryReading[]) {
  let [process, managed, unmanaged, recent, spilled] = [0, 0, 0, 0, 0];
  for (const reading of workers) {
    process += reading.process;
    managed += reading.managed;
    unmanaged += reading.unmanaged;
    recent += reading.recent;
    spilled += reading.spilled;
  }
  return { process, managed, unmanaged, recent, spilled };
}

export function recordMemory(model: SessionModel, event: Of<"memory">): void {
  const { at, workers, store } = event;
  const own = { program: event.program.private, supervisor: event.supervisor.private };
  const shared = { shared: store.resident, workers: workers.reduce((sum, reading) => sum + reading.private, 0) };
  model.series.memory.add({ at, values: { ...sumOfKinds(workers), ...own, ...shared } });
  model.series.store.add({ at, values: { resident: store.resident, onDisk: store.onDisk } });
  model.flow.passes(at);
  recordOperators(model, event);
}

/** A worker's private memory counts for the operator whose task it runs. */
function recordOperators(model: SessionModel, { at, workers }: Of<"memory">): void {
  const { state } = model;
  const all: Record<string, number> = {};
  const { measured } = model.series;
  for (const figures of measured) figures.memoryNow = 0;
  measured.clear();
  for (const { worker: id, private: bytes } of workers) {
    const taskId = state.workers.get(id)?.task ?? null;
    const task = taskId === null ? undefined : state.tasks.get(taskId);
    if (task === undefined) continue;
    const key = `${task.job}/${task.operator}`;
    all[key] = (all[key] ?? 0) + bytes;
    const figures = model.figuresOf(task.job, task.operator);
    figures.memoryNow += bytes;
    figures.curves.add(task.id, () => model.runOf(task), at, bytes);
    measured.add(figures);
  }
  const { operators, peaks } = model.series;
  for (const [key, bytes] of Object.entries(all)) peaks.add(key, bytes);
  operators.add({ at, values: all });
}

/** Deaths and retries so far. Readings of memory come all the time, so the curve goes on when nothing dies. */
export function recordDeaths({ series, deaths }: SessionModel, at: Milliseconds): void {
  series.deaths.add({ at, values: { ...deaths } });
}

export function recordNode(model: SessionModel, { at, used, total }: Of<"node">): void {
  model.series.node.add({ at, values: { used, total } });
}
