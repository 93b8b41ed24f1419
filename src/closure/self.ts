/**
 * `this` of the method around an arrow function. V8 does not show it among a function's scopes, so it is taken from one
 * of two places: the running method that made the arrow function, or the object whose constructor stored it.
 */
import type { Inspector } from "./inspect.ts";
import type { Scope } from "./lexical.ts";
import type { Script } from "./script.ts";

export function lexicalThis(
  inspector: Inspector,
  script: Script,
  owner: Scope,
  holder: object | null,
): { readonly self: unknown } | null {
  if (holder !== null && isConstruction(script, owner)) return { self: holder };
  const frame = inspector.callers().find((caller) => {
    if (caller.scriptId !== script.id) return false;
    const offset = script.offsetAt(caller.lineNumber, caller.columnNumber);
    return innermostAt(script, offset) === owner;
  });
  return frame === undefined ? null : { self: frame.self };
}

/** A class field or a constructor: what it assigns to is the object that contains the function. */
function isConstruction(script: Script, owner: Scope): boolean {
  if (owner.kind === "field") return true;
  const site = script.lexical.functions.find((one) => one.inner === owner);
  return site?.holder?.type === "MethodDefinition" && site.holder.kind === "constructor";
}

/** The scope of the function that starts here according to V8: at its parameters, after its name. */
function innermostAt(script: Script, offset: number): Scope | null {
  let best: Scope | null = null;
  for (const site of script.lexical.functions) {
    if (site.form === "class" || site.form === "arrow") continue;
    const body = (site.node.body as { start: number }).start;
    if (offset >= site.start && offset <= body && (best === null || site.start > best.start)) best = site.inner;
  }
  return best;
}
