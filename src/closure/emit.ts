/**
 * Writes the source of a program: every captured function, verbatim, inside functions that declare the variables of its
 * scopes. Each function is a thunk, which the reviver calls when it needs the function; setters fill the variables.
 * Keeps a table from generated positions to the user's own.
 */
import { type Edit, MappedText } from "./mapped-text.ts";
import type { PayloadProgram } from "./payload.ts";
import type { ScopeInstance } from "./scopes.ts";
import type { Script } from "./script.ts";

export interface Piece {
  readonly script: Script;
  readonly start: number;
  readonly end: number;
  readonly edits: readonly Edit[];
  readonly before: string;
  readonly after: string;
  readonly strict: boolean;
}

/** A name for internal use that does not occur in the user's source. */
function unusedName(source: string, name: string): string {
  let unused = name;
  for (let n = 0; source.includes(unused); n++) unused = name.slice(0, -1) + n.toString(36);
  return unused;
}

export function emitProgram(
  root: ScopeInstance,
  script: Script,
  pieces: readonly Piece[],
): Omit<PayloadProgram, "variables"> {
  const text = new MappedText();
  const isStrict = isStrictScript(script);
  const own = runtimeName(script);
  const value = `${own}Value`;

  function writePiece(index: number): void {
    const piece = pieces[index];
    if (piece === undefined) return;
    const directive = piece.strict && !isStrict ? '"use strict";' : "";
    text.write(`${own}.pieces[${index}]=(${parentName(script)})=>{${directive}return(${piece.before}`);
    text.copyEdited(piece.script, piece);
    text.write(`${piece.after});};\n`);
  }

  function writeScope(scope: ScopeInstance): void {
    if (!isUsed(scope)) return;
    const isRoot = scope === root;
    if (!isRoot) text.write("(function(){\n");
    if (scope.variables.size > 0) text.write(`var ${[...scope.variables.keys()].join(",")};\n`);
    for (const [name, index] of scope.variables) text.write(`${own}.set[${index}]=(${value})=>{${name}=${value}};\n`);
    for (const index of scope.pieces) writePiece(index);
    for (const child of scope.children) writeScope(child);
    if (!isRoot) text.write("})();\n");
  }

  text.write(`(function(${own},${metaName(script)}){${isStrict ? '"use strict";' : ""}\n`);
  writeScope(root);
  text.write("})");
  return { url: script.url, ...text.finish() };
}

function isUsed(scope: ScopeInstance): boolean {
  return scope.variables.size > 0 || scope.pieces.length > 0 || scope.children.some(isUsed);
}

function isStrictScript({ isModule, ast }: Script): boolean {
  return isModule || ast.body.some((one) => one.type === "ExpressionStatement" && one.directive === "use strict");
}

/** The name that stands for the class that a class extends. */
export function parentName(script: Script): string {
  return `${runtimeName(script)}Parent`;
}

function runtimeName(script: Script): string {
  return unusedName(script.source, "$spillway");
}

/** Replaces the word `import` in `import.meta`. It has the same length, so that columns stay. */
export function metaName(script: Script): string {
  return unusedName(script.source, "$mport");
}

/** Replaces `this` of the function around an arrow function. It has the same length. */
export function selfName(script: Script): string {
  return unusedName(script.source, "$his");
}
