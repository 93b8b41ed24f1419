/**
 * Words of a function that belong to the function or class around it. `this` of a method and `import.meta` are passed
 * as values under names of the same length, so that columns in the source stay. `super`, `arguments` and `#private`
 * cannot be passed.
 */
import { metaName, selfName } from "./emit.ts";
import type { Graph } from "./graph.ts";
import type { Inspector } from "./inspect.ts";
import { type Borrowed, borrowedWords } from "./lexical.ts";
import { makeInstance, type ScopeInstance } from "./scopes.ts";
import { lexicalThis } from "./self.ts";
import { isCut, namedBy, type Subject } from "./subject.ts";
import { refuse } from "./trail.ts";

/** Handles all of them. Returns the scope in which the function's source must be placed. */
export function settleBorrowed(operator: string, subject: Subject, graph: Graph, inspector: Inspector): ScopeInstance {
  const { script, site, draft, chain, edits } = subject;
  const words = borrowedWords(script.lexical, site).filter((use) => !isCut(subject, use.start));
  for (const use of words) {
    if (use.word === "import.meta") edits.push({ start: use.start, end: use.start + 6, text: metaName(script) });
    else if (use.word !== "this" && use.word !== "eval") throw refuseWord(operator, subject, use);
  }
  const scope = chain[0] ?? draft.root;
  const uses = words.filter((use) => use.word === "this" && use.owner.kind !== "program");
  const first = uses[0];
  if (first === undefined) return scope;

  const trail = namedBy(subject, "this", first.start);
  const found = lexicalThis(inspector, script, first.owner, subject.trail.holder);
  if (found === null) {
    const remedy = "Copy what it needs to a constant (const rate = this.rate), or wrap it: row => object.method(row).";
    throw refuse(operator, trail, "the object of a method that is not running now", remedy);
  }
  for (const use of uses) edits.push({ start: use.start, end: use.start + 4, text: selfName(script) });
  const same = scope.children.find(
    ({ live }) => live.description === "This" && Object.is(live.variables.this, found.self),
  );
  if (same !== undefined) return same;
  const inner = makeInstance(scope, null, { description: "This", variables: { this: found.self } });
  inner.variables.set(selfName(script), draft.variables.values.length);
  graph.put(draft.variables, found.self, trail);
  return inner;
}

function refuseWord(operator: string, subject: Subject, use: Borrowed): Error {
  const isPrivate = use.word === "private";
  const trail = namedBy(subject, isPrivate ? "#private" : use.word, use.start);
  const around = use.word === "arguments" || use.word === "new.target" ? "function" : "class";
  const what = isPrivate ? "a private member of the class around it" : `a word of the ${around} around it`;
  return refuse(operator, trail, what, "Give the function what it needs, or wrap it: row => object.method(row).");
}
