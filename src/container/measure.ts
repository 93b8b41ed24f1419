/** Measures worker data: its own figure, or the size of its values. */

import { isMap } from "../realm/index.ts";
import { sizeof } from "../sizeof/index.ts";
import { isEvicting, type MapLike } from "./container.ts";

/** Properties in which caches give their size; the first that is a number counts. */
const OWN_FIGURES = ["bytes", "totalWeight", "calculatedSize"] as const;

/** For worker data that evicts, only `fast` counts. */
export function containerBytes(container: MapLike): number {
  const inMemory = isEvicting(container) ? container.fast : container;
  return ownFigure(inMemory) ?? measured(inMemory);
}

function ownFigure(container: MapLike): number | null {
  for (const name of OWN_FIGURES) {
    const bytes: unknown = Reflect.get(container, name);
    if (typeof bytes === "number" && Number.isFinite(bytes) && bytes >= 0) return bytes;
  }
  return null;
}

function measured(container: MapLike): number {
  return isMap(container) ? sizeof(container) : sizeof(Array.from(valuesOf(container)));
}

/** Avoids `get` if possible: a cache would count it as a use. */
function* valuesOf(container: MapLike): Iterable<unknown> {
  if (typeof container.values === "function") yield* container.values();
  else for (const key of container.keys()) yield container.get(key);
}
