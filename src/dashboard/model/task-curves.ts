/**
 * The memory of an operator's tasks over time: a curve for each task with two readings or more, of which the fullest
 * are kept. A task that runs again begins a new curve.
 */
import type { Bytes, Milliseconds, TaskId } from "../../protocol/index.ts";
import type { Series } from "../api.ts";
import { highest, PointSeries } from "./series.ts";
import { Top } from "./top.ts";

/** A little less than the 200 ms between two readings, because some come early. */
const READING: Milliseconds = 150;
/** As many as there are colours. */
const KEPT = 10;
const POINTS = 120;
const BYTES = "bytes";

class TaskCurve {
  readonly #points = new PointSeries(READING, highest, POINTS);
  peak: Bytes = 0;
  readings = 0;

  constructor(readonly name: string) {}

  add(at: Milliseconds, bytes: Bytes): void {
    this.#points.add({ at, values: { [BYTES]: bytes } });
    this.peak = Math.max(this.peak, bytes);
    this.readings += 1;
  }

  get points(): readonly (readonly [Milliseconds, Bytes])[] {
    const { t, values } = this.#points.all();
    return t.map((at, i) => [at, values[BYTES]?.[i] ?? 0]);
  }
}

export class TaskCurves {
  readonly #running = new Map<TaskId, TaskCurve>();
  readonly #ended = new Top<TaskCurve>(KEPT);

  /** `name`: called at the first reading of a task. */
  add(task: TaskId, name: () => string, at: Milliseconds, bytes: Bytes): void {
    let curve = this.#running.get(task);
    if (curve === undefined) {
      curve = new TaskCurve(name());
      this.#running.set(task, curve);
    }
    curve.add(at, bytes);
  }

  /** The task has left its worker. */
  end(task: TaskId): void {
    const curve = this.#running.get(task);
    if (curve === undefined || !this.#running.delete(task) || !isCurve(curve)) return;
    if (this.#ended.takes(curve.peak)) this.#ended.add(curve.peak, curve);
  }

  /** Keeps only the fullest of the ended tasks. */
  shrink(most: number): void {
    this.#ended.shrink(most);
  }

  /** Ends the curves of tasks that no longer run. */
  keepRunning(isRunning: (task: TaskId) => boolean): void {
    for (const task of [...this.#running.keys()]) if (!isRunning(task)) this.end(task);
  }

  /** The fullest, with how many others there were. */
  fullest(): { readonly memory: Series; readonly leftOut: number } {
    const running = [...this.#running.values()].filter(isCurve);
    const all = [...this.#ended.items, ...running].sort((one, two) => two.peak - one.peak);
    const shown = all.slice(0, KEPT);
    return { memory: side(shown), leftOut: this.#ended.seen + running.length - shown.length };
  }
}

function isCurve({ readings }: TaskCurve): boolean {
  return readings > 1;
}

/** Curves over the times of all of them. Between two of its own points, a curve keeps the value of the earlier one. */
function side(curves: readonly TaskCurve[]): Series {
  const ofEach = curves.map(({ name, points }) => ({ name, points }));
  const t = [...new Set(ofEach.flatMap(({ points }) => points.map(([at]) => at)))].sort((one, two) => one - two);
  const values: Record<string, readonly (number | null)[]> = {};
  for (const { name, points } of ofEach) {
    const last = points.at(-1)?.[0] ?? 0;
    let next = 0;
    values[name] = t.map((at) => {
      while ((points[next]?.[0] ?? Number.POSITIVE_INFINITY) <= at) next += 1;
      return at > last ? null : (points[next - 1]?.[1] ?? null);
    });
  }
  return { t, values };
}
