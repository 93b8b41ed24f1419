/**
 * Writes the source of a program: every captured function, verbatim, inside functions that declare the variables of
 * its scopes. Pieces are thunks that the reviver calls in order of need; setters fill the variables. Keeps a table
 * from generated positions to the user's own.
 */
import type { PayloadProgram } from "./payload.ts";
import type { ScopeInstance } from "./scopes.ts";
import type { Script } from "./script.ts";
import { segmentBefore } from "./source-map.ts";

/** Replace source[start, end) by text. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

export interface Piece {
  readonly script: Script;
  readonly start: number;
  readonly end: number;
  readonly edits: readonly Edit[];
  readonly before: string;
  readonly after: string;
  readonly strict: boolean;
}

/** A name for our own use that occurs nowhere in the user's source. */
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
  const strict = isStrict(script);
  const own = runtimeName(script);
  const value = `${own}Value`;
  const files: string[] = [];
  const positions: number[] = [];
  const parts: string[] = [];
  let line = 0;
  let column = 0;

  function write(text: string): void {
    parts.push(text);
    const last = text.lastIndexOf("\n");
    if (last < 0) column += text.length;
    else {
      column = text.length - last - 1;
      for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) line++;
    }
  }

  function fileIndex(file: string): number {
    const known = files.indexOf(file);
    return known >= 0 ? known : files.push(file) - 1;
  }

  /** Source text as it stands, with where it came from. */
  function copy(from: Script, start: number, end: number): void {
    if (end <= start) return;
    const first = from.original(start);
    const at = from.positionAt(start);
    const verbatim = from.map === null ? 1 : 0;
    positions.push(line, column, fileIndex(first.file), first.line, first.column, verbatim);
    if (from.map !== null) {
      const stop = from.positionAt(end);
      const { segments, sources } = from.map;
      for (let i = segmentBefore(segments, at.line, at.column) + 1; i < segments.length; i++) {
        const segment = segments[i];
        if (segment === undefined || segment.line > stop.line) break;
        if (segment.line === stop.line && segment.column >= stop.column) break;
        const file = sources[segment.source];
        if (file === undefined) continue;
        const row = segment.line - at.line;
        const shifted = row === 0 ? column + segment.column - at.column : segment.column;
        positions.push(line + row, shifted, fileIndex(file), segment.sourceLine, segment.sourceColumn, 0);
      }
    }
    write(from.source.slice(start, end));
  }

  function writePiece(index: number): void {
    const piece = pieces[index];
    if (piece === undefined) return;
    write(
      `${own}.pieces[${index}]=(${parentName(script)})=>{${piece.strict && !strict ? '"use strict";' : ""}return(${piece.before}`,
    );
    let at = piece.start;
    for (const edit of [...piece.edits].sort((a, b) => a.start - b.start)) {
      copy(piece.script, at, edit.start);
      write(edit.text);
      at = edit.end;
    }
    copy(piece.script, at, piece.end);
    write(`${piece.after});};\n`);
  }

  function writeScope(scope: ScopeInstance): void {
    if (!isUsed(scope)) return;
    const isRoot = scope === root;
    if (!isRoot) write("(function(){\n");
    if (scope.variables.size > 0) write(`var ${[...scope.variables.keys()].join(",")};\n`);
    for (const [name, index] of scope.variables) write(`${own}.set[${index}]=(${value})=>{${name}=${value}};\n`);
    for (const index of scope.pieces) writePiece(index);
    for (const child of scope.children) writeScope(child);
    if (!isRoot) write("})();\n");
  }

  write(`(function(${own},${metaName(script)}){${strict ? '"use strict";' : ""}\n`);
  writeScope(root);
  write("})");
  return { url: script.url, code: parts.join(""), positions: Int32Array.from(positions), files };
}

function isUsed(scope: ScopeInstance): boolean {
  return scope.variables.size > 0 || scope.pieces.length > 0 || scope.children.some(isUsed);
}

function isStrict({ isModule, ast }: Script): boolean {
  return isModule || ast.body.some((one) => one.type === "ExpressionStatement" && one.directive === "use strict");
}

/** Stands for what a class extends. */
export function parentName(script: Script): string {
  return `${runtimeName(script)}Parent`;
}

function runtimeName(script: Script): string {
  return unusedName(script.source, "$spillway");
}

/** Stands for the word `import` in `import.meta`; as long as it, so that columns stay. */
export function metaName(script: Script): string {
  return unusedName(script.source, "$mport");
}

/** Stands for `this` of the function around an arrow function; as long as it. */
export function selfName(script: Script): string {
  return unusedName(script.source, "$his");
}
