/** Figures as an object for programs. `String()`, templates and `console.log` show them as text for people. */

/** The symbol that Node's `console.log` looks for. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

export function shownAs<Value extends object>(value: Value, text: () => string): Value & { toString(): string } {
  return Object.defineProperties(value, { toString: { value: text }, [INSPECT]: { value: text } });
}
