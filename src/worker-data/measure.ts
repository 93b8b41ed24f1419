/** Measures worker data: its own figure, or the size of its values. */

import { isMap } from "../realm/index.ts";
import { sizeof } from "../sizeof/index.ts";
import { isEvicting, type MapLike } from "./worker-data.ts";

/** Properties in which caches give their size; the first that is a number counts. */
const OWN_FIGURES = ["bytes", "totalWeight", "calculatedSize"] as const;

/** For worker data that evicts, only `fast` counts. */
export function workerDataBytes(data: MapLike): number {
  const inMemory = isEvicting(data) ? data.fast : data;
  return ownFigure(inMemory) ?? measured(inMemory);
}

function ownFigure(data: MapLike): number | null {
  for (const name of OWN_FIGURES) {
    const bytes: unknown = Reflect.get(data, name);
    if (typeof bytes === "number" && Number.isFinite(bytes) && bytes >= 0) return bytes;
  }
  return null;
}

function measured(data: MapLike): number {
  return isMap(data) ? sizeof(data) : sizeof(Array.from(valuesOf(data)));
}

/** Avoids `get` if possible: a cache would count it as a use. */
function* valuesOf(data: MapLike): Iterable<unknown> {
  if (typeof data.values === "function") yield* data.values();
  else for (const key of data.keys()) yield data.get(key);
}
