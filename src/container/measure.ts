/** How much a container holds in memory: what it says itself, or what its values are found to take. */

import { isMap } from "../realm/index.ts";
import { sizeof } from "../sizeof/index.ts";
import { isEvicting, type MapLike } from "./container.ts";

/** Names under which caches tell their size; the first that is a number counts. */
const OWN_FIGURES = ["bytes", "totalWeight", "calculatedSize"] as const;

/** Of one that evicts, what is in its fast part. */
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

/** Not by `get` where there is another way: it would look like use. */
function* valuesOf(container: MapLike): Iterable<unknown> {
  if (typeof container.values === "function") yield* container.values();
  else for (const key of container.keys()) yield container.get(key);
}
