/**
 * A bounded series of values over time. When it has too many points, each pair of neighbours becomes one point, and
 * from then on a point stands for twice the time. A page gets only the new points as long as the old points stay as
 * they are.
 */
import type { Milliseconds } from "../../protocol/index.ts";
import type { Series } from "../api.ts";

interface Point {
  readonly at: Milliseconds;
  readonly values: Readonly<Record<string, number>>;
}

/** Merges two points into one. */
type Merge = (one: Point, two: Point) => Point;

const MOST = 1_200;

/** Keeps the whole point with the larger value of `column`, so that the point's parts still add up. */
export function fuller(column: string): Merge {
  return (one, two) => ((two.values[column] ?? 0) > (one.values[column] ?? 0) ? two : one);
}

/** Keeps the higher value of each column, for columns that are independent of each other. */
export function highest(one: Point, two: Point): Point {
  const values = { ...one.values };
  for (const [name, value] of Object.entries(two.values)) values[name] = Math.max(values[name] ?? 0, value);
  return { at: one.at, values };
}

/** As `highest`, and keeps only the `most` columns with the highest values. */
export function highestOf(most: number): Merge {
  return (one, two) => {
    const { at, values } = highest(one, two);
    const columns = Object.entries(values);
    if (columns.length <= most) return { at, values };
    return { at, values: Object.fromEntries(columns.sort(([, a], [, b]) => b - a).slice(0, most)) };
  };
}

/** For rates. */
export function mean(one: Point, two: Point): Point {
  const values: Record<string, number> = {};
  for (const name of Object.keys(one.values)) {
    values[name] = ((one.values[name] ?? 0) + (two.values[name] ?? 0)) / 2;
  }
  return { at: one.at, values };
}

export class PointSeries {
  #points: Point[] = [];
  /** The newest point, into which more may be merged. */
  #open: Point | null = null;
  #width: Milliseconds;
  #epoch = 0;

  constructor(
    width: Milliseconds,
    private readonly merge: Merge,
    private readonly most = MOST,
  ) {
    this.#width = width;
  }

  /** Changes when points that were already sent change. */
  get epoch(): number {
    return this.#epoch;
  }

  get length(): number {
    return this.#points.length;
  }

  get width(): Milliseconds {
    return this.#width;
  }

  add(point: Point): void {
    const open = this.#open;
    if (open !== null && point.at - open.at < this.#width) {
      const { values } = this.merge(open, point);
      this.#open = { at: open.at, values };
      return;
    }
    if (open !== null) this.#points.push(open);
    this.#open = point;
    if (this.#points.length >= this.most) this.#halve();
  }

  /** Closes the last point: no more values will arrive. */
  finish(): void {
    if (this.#open !== null) this.#points.push(this.#open);
    this.#open = null;
  }

  /** The closed points from number `from` up to `to`, which no longer change. `only` limits the columns. */
  columns({ from, to, only }: { from: number; to?: number; only?: readonly string[] }): Series {
    return columnsOf(this.#points.slice(from, to), only);
  }

  /** All points, including the open one. */
  all(): Series {
    return columnsOf(this.#open === null ? this.#points : [...this.#points, this.#open]);
  }

  #halve(): void {
    const fewer: Point[] = [];
    for (let at = 0; at < this.#points.length; at += 2) {
      const [one, two] = [this.#points[at], this.#points[at + 1]];
      if (one !== undefined) fewer.push(two === undefined ? one : { ...this.merge(one, two), at: one.at });
    }
    this.#points = fewer;
    this.#width *= 2;
    this.#epoch += 1;
  }
}

function columnsOf(points: readonly Point[], only?: readonly string[]): Series {
  const names = only ?? new Set(points.flatMap(({ values }) => Object.keys(values)));
  const values: Record<string, (number | null)[]> = {};
  for (const name of names) values[name] = points.map((point) => point.values[name] ?? null);
  return { t: points.map(({ at }) => at), values };
}
