/**
 * A class as source, and what its source does not contain. The worker must not run static initialisers again (they may
 * have effects, and the values may have changed since), nor the expression after `extends`: both are cut out and their
 * values are shipped. Methods come with the source. What was added to the class or its prototype later is shipped, too.
 */
import type { AnyNode, Class, MethodDefinition } from "acorn";
import { staticName } from "./lexical.ts";
import type { Edit } from "./mapped-text.ts";
import type { Script } from "./script.ts";

export function classEdits(node: Class, script: Script, parentName: string | null): Edit[] {
  const edits: Edit[] = [];
  if (node.superClass && parentName !== null) {
    edits.push({ start: node.superClass.start, end: node.superClass.end, text: parentName });
  }
  for (const member of node.body.body) {
    if (member.type === "StaticBlock")
      edits.push({ start: member.start, end: member.end, text: blank(script, member) });
    const isStaticField =
      member.type === "PropertyDefinition" && member.static && member.key.type !== "PrivateIdentifier";
    if (isStaticField) edits.push({ start: member.start, end: member.end, text: blank(script, member) });
  }
  return edits;
}

/** Blank text with the same number of characters and lines, so that later positions stay. */
function blank(script: Script, node: { start: number; end: number }): string {
  return script.source.slice(node.start, node.end).replace(/[^\n]/g, " ");
}

/** "has private fields (#key, #count)": state that only the class's own constructor can give to an instance. */
export function privateMembers(node: Class): string | null {
  const names = new Set<string>();
  for (const member of node.body.body) {
    if (member.type === "StaticBlock" || member.static) continue;
    if (member.key.type === "PrivateIdentifier") names.add(`#${member.key.name}`);
  }
  return names.size === 0 ? null : `has private members (${[...names].join(", ")})`;
}

/** Own properties of the class (statics) or of its prototype that its shipped source does not make. */
export function extraKeys(node: Class, script: Script, owner: object, isStatic: boolean): (string | symbol)[] {
  const methods = node.body.body.filter(
    (member): member is MethodDefinition => member.type === "MethodDefinition" && member.static === isStatic,
  );
  const skipped = isStatic ? ["length", "name", "prototype"] : ["constructor"];
  return Reflect.ownKeys(owner).filter((key) => {
    if (skipped.includes(String(key))) return isStatic && key === "name" && hasOwnName(owner);
    const descriptor = Object.getOwnPropertyDescriptor(owner, key);
    const parts: unknown[] = [descriptor?.value, descriptor?.get, descriptor?.set];
    const functions = parts.filter((part) => typeof part === "function");
    const fromSource = functions.every((fn) => methods.some((method) => isMadeBy(method, key, fn, script)));
    return functions.length === 0 || !fromSource;
  });
}

/** A static member called `name` hides the class's own. */
function hasOwnName(owner: object): boolean {
  return typeof Object.getOwnPropertyDescriptor(owner, "name")?.value !== "string";
}

function isMadeBy(method: MethodDefinition, key: string | symbol, fn: object, script: Script): boolean {
  const name = staticName(method.key as AnyNode, method.computed);
  if (name !== null && name !== key) return false;
  return Function.prototype.toString.call(fn).endsWith(script.source.slice(method.value.start, method.value.end));
}
