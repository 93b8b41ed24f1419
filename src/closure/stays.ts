/**
 * Objects that are never useful in a worker, and what to do instead. Classes of this package declare themselves under
 * `STAYS`.
 */

/** Shared by all copies of the package. */
export const STAYS = Symbol.for("spillway.stays");

export interface Stays {
  /** "a Dataset" */
  readonly what: string;
  /** A whole sentence. */
  readonly remedy: string;
}

/** zod 4 keeps everything it has made in a WeakSet, and each schema refers to all of zod. */
const ZOD: Stays = {
  what: "a zod schema",
  remedy:
    "Put it into a module of its own and import it where the function is: imports are imported again in the worker. Or make it in the constructor of a class function: mapBatches(Class).",
};

export function staysBehind(value: object): Stays | null {
  const own: unknown = Reflect.get(value, STAYS);
  if (isStays(own)) return own;
  return "_zod" in value && "parse" in value ? ZOD : null;
}

function isStays(value: unknown): value is Stays {
  return typeof value === "object" && value !== null && "what" in value && "remedy" in value;
}
