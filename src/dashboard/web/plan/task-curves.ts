/** A curve for each of the tasks with the most memory, which the series has. */
import type { Curve } from "../chart/index.ts";
import type { SeriesBuffer } from "../live/index.ts";
import { operatorColour } from "../palette.ts";

export function taskCurves(series: SeriesBuffer): readonly Curve[] {
  return [...series.values.keys()].map((name, index) => ({
    of: name,
    label: name,
    colour: operatorColour(`/${index}`),
  }));
}
