/** A growing series. When it has too many points, every second point of its older half is dropped. */
import type { Series } from "../../api.ts";

const MOST_POINTS = 3000;

export const isSeries = (key: string, _series: unknown): _series is Series => key.startsWith("series/");

export class SeriesBuffer {
  readonly t: number[] = [];
  readonly values = new Map<string, (number | null)[]>();

  constructor(first: Series) {
    this.append(first);
  }

  append({ t, values }: Series): void {
    const before = this.t.length;
    for (const time of t) this.t.push(time);
    for (const name of Object.keys(values)) {
      if (!this.values.has(name)) this.values.set(name, new Array<number | null>(before).fill(null));
    }
    for (const [name, column] of this.values) {
      const more = values[name];
      for (let index = 0; index < t.length; index++) column.push(more?.[index] ?? null);
    }
    if (this.t.length > MOST_POINTS) this.#thin();
  }

  last(name: string): number | null {
    return this.values.get(name)?.at(-1) ?? null;
  }

  column(name: string): readonly (number | null)[] {
    return this.values.get(name) ?? new Array<number | null>(this.t.length).fill(null);
  }

  #thin(): void {
    const half = this.t.length >> 1;
    const thinned = <T>(column: T[]) => {
      let kept = 0;
      for (let index = 0; index < column.length; index++) {
        const value = column[index];
        if (value !== undefined && (index >= half || index % 2 === 0)) column[kept++] = value;
      }
      column.length = kept;
    };
    thinned(this.t);
    for (const [name, column] of this.values) {
      thinned(column);
      if (column.every((value) => value === null)) this.values.delete(name);
    }
  }
}
