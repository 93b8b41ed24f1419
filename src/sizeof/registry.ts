/** Classes with a size function of their own: handles of native memory, caches. */
import { OptionError } from "../errors/index.ts";
import { isMap } from "../realm/index.ts";

/** A class with any constructor. */
export type Constructor<T extends object> = abstract new (...args: never[]) => T;

type Measure = (value: object) => number;

/** One registry for a process: a worker's own code and a function that imports the package have this file each. */
const PLACE = Symbol.for("spillway.sizeof");
const measures = registry();

/**
 * `measure` gives the bytes of an instance of `type`, and of its subclasses unless they have a measure of their own.
 */
export function registerSizeof<T extends object>(type: Constructor<T>, measure: (value: T) => number): void {
  if (typeof type !== "function" || typeof type.prototype !== "object" || typeof measure !== "function") {
    throw new OptionError("registerSizeof: give a class, and a function that returns the bytes of an instance.");
  }
  const prototype: T = type.prototype;
  measures.set(prototype, (value) => {
    if (!isInstance(value, prototype)) throw new Error(`${type.name} was asked for the size of something else`);
    const bytes = measure(value);
    if (typeof bytes === "number" && Number.isFinite(bytes) && bytes >= 0) return bytes;
    throw new OptionError(
      `registerSizeof: the function for ${type.name} returned ${String(bytes)}; it must return a number of bytes.`,
    );
  });
}

/** The size by the nearest registered class; null if there is none. */
export function registeredSize(value: object): number | null {
  if (measures.size === 0) return null;
  for (let type: unknown = Object.getPrototypeOf(value); isObject(type); type = Object.getPrototypeOf(type)) {
    const measure = measures.get(type);
    if (measure !== undefined) return measure(value);
  }
  return null;
}

function isInstance<T extends object>(value: object, prototype: T): value is T {
  return Object.prototype.isPrototypeOf.call(prototype, value);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function registry(): Map<object, Measure> {
  const known: unknown = Reflect.get(globalThis, PLACE);
  if (isMap(known)) return known as Map<object, Measure>;
  const made = new Map<object, Measure>();
  Object.defineProperty(globalThis, PLACE, { value: made });
  return made;
}
