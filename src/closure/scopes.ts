/**
 * The scopes that captured functions share. V8 shows each function a copy of its scope chain and never says whether two
 * copies are of one scope. This file decides that, so that a variable that two closures share is one variable in the
 * worker, and two counters made by one factory stay two.
 */
import type { LiveScope } from "./inspect.ts";
import type { Binding, FunctionSite, Scope } from "./lexical.ts";
import type { Script } from "./script.ts";

export interface ScopeInstance {
  readonly parent: ScopeInstance | null;
  /** The scope in the source, if it was recognised. */
  readonly lexical: Scope | null;
  readonly live: LiveScope;
  readonly children: ScopeInstance[];
  /** Variables that captured functions use: from the name to the number in the program. */
  readonly variables: Map<string, number>;
  readonly pieces: number[];
  /** The functions that led here. */
  readonly sites: Set<FunctionSite>;
}

export function makeInstance(parent: ScopeInstance | null, lexical: Scope | null, live: LiveScope): ScopeInstance {
  const made = {
    parent,
    lexical,
    live,
    children: [],
    variables: new Map(),
    pieces: [],
    sites: new Set<FunctionSite>(),
  };
  parent?.children.push(made);
  return made;
}

/** The instances of a function's scopes, innermost first, without the global scope. */
export function resolveChain(
  root: ScopeInstance,
  script: Script,
  site: FunctionSite,
  scopes: readonly LiveScope[],
): ScopeInstance[] {
  const own = scopes.filter((scope) => scope.description !== "Global");
  const lexical = recognise(script, site, own);
  const chain: ScopeInstance[] = [];
  let parent = root;
  for (let i = own.length - 1; i >= 0; i--) {
    const live = own[i];
    if (live === undefined) continue;
    const shape = lexical[i] ?? null;
    const same = parent.children.find((candidate) => isSame(candidate, live, shape, site));
    parent = same ?? makeInstance(parent, shape, live);
    parent.sites.add(site);
    chain.unshift(parent);
  }
  return chain;
}

/** Parameters that Node wraps around a CommonJS module; they appear in no source. */
const WRAPPER = new Set(["exports", "require", "module", "__filename", "__dirname"]);

function recognise(script: Script, site: FunctionSite, scopes: readonly LiveScope[]): (Scope | null)[] {
  let from: Scope | null = site.outer;
  return scopes.map((live) => {
    const names = Object.keys(live.variables).filter((name) => !/^[.#]|^this$|^arguments$|^new\.target$/.test(name));
    for (let at: Scope | null = from; at !== null; at = at.parent) {
      const { bindings } = at;
      const isProgram = at === script.lexical.program;
      if (names.every((name) => bindings.has(name) || (isProgram && WRAPPER.has(name)))) {
        from = at.parent;
        return at;
      }
    }
    return null;
  });
}

function isSame(candidate: ScopeInstance, live: LiveScope, lexical: Scope | null, site: FunctionSite): boolean {
  if (candidate.lexical !== lexical || candidate.live.description !== live.description) return false;
  // A module, or a script's top level, exists only once.
  if (lexical?.kind === "program" || live.description === "Module" || live.description === "Script") return true;
  const names = Object.keys(live.variables);
  for (const name of names) {
    if (!Object.is(live.variables[name], candidate.live.variables[name])) return false;
  }
  const bindings = names.map((name) => lexical?.bindings.get(name)).filter((one) => one !== undefined);
  // If no variable is ever assigned, one scope and two with equal values behave in the same way.
  if (lexical !== null && !bindings.some((binding) => binding.assigned)) return true;
  if (bindings.some((binding) => isFresh(binding) && isObject(live.variables[binding.name]))) return true;
  // The remaining case: equal values, something assigned, and no object that only this scope can have made. Two
  // closures of the same source function then come from two calls of their maker (two counters); closures of different
  // source functions come from one call.
  return !candidate.sites.has(site);
}

/** Declared with a value that is a new object each time the scope is entered. */
function isFresh(binding: Binding): boolean {
  if (binding.assigned) return false;
  if (binding.kind === "function" || binding.kind === "class") return true;
  if (binding.node.type !== "VariableDeclarator" || binding.node.id.type !== "Identifier") return false;
  switch (binding.node.init?.type) {
    case "ArrowFunctionExpression":
    case "FunctionExpression":
    case "ClassExpression":
    case "ObjectExpression":
    case "ArrayExpression":
    case "NewExpression":
      return true;
    default:
      return false;
  }
}

function isObject(value: unknown): boolean {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}
