/**
 * The method `call` of a class function, if its source is certain to be what is called. It must be written in the class
 * or in one that it extends, as a method or as a field with a function, and neither a constructor nor other code may
 * have replaced it.
 */
import type { Class, MethodDefinition, PropertyDefinition } from "acorn";
import { bare } from "./inside.ts";
import type { FunctionSite } from "./lexical.ts";
import type { Script } from "./script.ts";

/** Where a function is written. */
interface Place {
  readonly script: Script;
  readonly site: FunctionSite;
}

type Member = MethodDefinition | PropertyDefinition;

interface Definition {
  readonly script: Script;
  readonly member: Member;
}

export function calledMethod(fn: object, find: (fn: object) => Place | null): Place | null {
  const definitions = definitionsOf(fn, find);
  const [first, ...others] = definitions ?? [];
  if (first === undefined) return null;
  // A field is set on the instance and hides all methods. Two definitions with a field among them are too complex to
  // follow.
  const isField = [first, ...others].some(({ member }) => member.type === "PropertyDefinition");
  if (isField ? others.length > 0 : !isAsWritten(fn, first)) return null;
  const { script, member } = first;
  const value = member.type === "PropertyDefinition" ? member.value && bare(member.value) : member.value;
  const site = script.lexical.functions.find(({ start, form }) => start === value?.start && form !== "class");
  return site === undefined ? null : { script, site };
}

/**
 * The definitions in the class and in those that it extends, nearest first; null if one of these classes could replace
 * the method.
 */
function definitionsOf(fn: object, find: (fn: object) => Place | null): readonly Definition[] | null {
  const found: Definition[] = [];
  for (let owner: object | null = fn; owner !== null; ) {
    const place = find(owner);
    if (place?.site.form !== "class") return null;
    const { script } = place;
    const node = place.site.node as Class;
    const members = node.body.body.filter(isCall);
    if (members.length > 1 || mayReplace(instanceSource(script, node), members.length)) return null;
    for (const member of members) found.push({ script, member });
    const parent: unknown = node.superClass ? Object.getPrototypeOf(owner) : null;
    owner = typeof parent === "function" ? parent : null;
  }
  return found;
}

function isCall(member: Class["body"]["body"][number]): member is Member {
  if (member.type === "StaticBlock" || member.static || member.computed) return false;
  return member.key.type === "Identifier" && member.key.name === "call";
}

/**
 * The source without code that runs once when the class is made, such as the `static { __name(this, "Model") }` of
 * esbuild and tsx, or the expression after `extends`. Its effects on the prototype are already visible, and a worker
 * does not run it again.
 */
function instanceSource(script: Script, node: Class): string {
  const once = node.body.body.filter(
    (member) => member.type === "StaticBlock" || (member.type === "PropertyDefinition" && member.static),
  );
  let [source, at] = ["", node.start];
  for (const cut of node.superClass ? [node.superClass, ...once] : once) {
    source += script.source.slice(at, cut.start);
    at = cut.end;
  }
  return source + script.source.slice(at, node.end);
}

/** The source mentions the method's name once more, or gives an instance away, or writes to it by a computed name. */
function mayReplace(source: string, defined: number): boolean {
  return (source.match(/\bcall\b/g)?.length ?? 0) > defined || /\bthis\b(?!\s*\.)/.test(source);
}

/** Whether the property that an instance has by this name has exactly this source. */
function isAsWritten(fn: object, { script, member }: Definition): boolean {
  if (member.type !== "MethodDefinition" || member.kind !== "method") return false;
  let owner: unknown = Object.getOwnPropertyDescriptor(fn, "prototype")?.value;
  while (typeof owner === "object" && owner !== null && !Object.hasOwn(owner, "call")) {
    owner = Object.getPrototypeOf(owner);
  }
  if (typeof owner !== "object" || owner === null) return false;
  const method: unknown = Object.getOwnPropertyDescriptor(owner, "call")?.value;
  const source = script.source.slice(member.start, member.end);
  return typeof method === "function" && Function.prototype.toString.call(method) === source;
}
