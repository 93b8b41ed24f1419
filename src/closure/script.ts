/**
 * A script that V8 has loaded: its text as V8 has it (compiled), parsed once, with positions in the user's own source.
 * Scripts never change, so what is known about them is kept for the life of the process.
 */
import { relative } from "node:path";
import { pathToFileURL } from "node:url";
import { type Options, type Program, parse } from "acorn";
import { SpillwayError } from "../errors/index.ts";
import { messageOf } from "../realm/index.ts";
import { analyse } from "./analyse.ts";
import type { FunctionSite, Lexical } from "./lexical.ts";
import { originalPosition, pathOf, readSourceMap, type SourceMap, type SourcePosition } from "./source-map.ts";

/** What the debugger reports when it names a script. */
export interface ScriptDescription {
  readonly scriptId: string;
  readonly url: string;
  readonly startLine: number;
  readonly startColumn: number;
  readonly isModule: boolean;
  readonly sourceMapURL: string;
}

export interface Script {
  readonly id: string;
  /** A URL if it was loaded from a file; otherwise "" or a name such as "REPL1". */
  readonly url: string;
  /**
   * The place from which its imports are resolved: the script itself, or the working directory for typed or evaluated
   * code.
   */
  readonly base: string;
  readonly isModule: boolean;
  readonly source: string;
  readonly map: SourceMap | null;
  readonly ast: Program;
  readonly lexical: Lexical;
  /** The offset of a position that V8 gives. */
  offsetAt(line: number, column: number): number;
  /** Zero-based line and column within the text, without the offsets that V8 adds. */
  positionAt(offset: number): { line: number; column: number };
  /** The position in the user's own source. */
  original(offset: number): SourcePosition;
}

export function makeScript(description: ScriptDescription, source: string): Script {
  const url = fileUrl(description.url);
  const map = description.sourceMapURL ? readSourceMap(description.sourceMapURL, url) : null;
  const ast = parseScript(source, description.isModule, url);
  const starts = lineStarts(source);

  function positionAt(offset: number): { line: number; column: number } {
    let low = 0;
    let high = starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return { line: low - 1, column: offset - (starts[low - 1] ?? 0) };
  }

  return {
    id: description.scriptId,
    url,
    base: url.startsWith("file:") ? url : pathToFileURL(`${process.cwd()}/[eval]`).href,
    isModule: description.isModule,
    source,
    map,
    ast,
    lexical: analyse(ast),
    offsetAt(line, column) {
      const row = line - description.startLine;
      return (starts[row] ?? source.length) + column - (row === 0 ? description.startColumn : 0);
    },
    positionAt,
    original(offset) {
      const { line, column } = positionAt(offset);
      const found = map === null ? null : originalPosition(map, line, column);
      // Without a map, V8's own offsets are part of the position: a stack trace shows them, too.
      return found ?? { file: pathOf(url), line: line + description.startLine, column };
    },
  };
}

function fileUrl(url: string): string {
  return url.startsWith("/") ? pathToFileURL(url).href : url;
}

function parseScript(source: string, isModule: boolean, url: string): Program {
  const options: Options = {
    ecmaVersion: "latest",
    sourceType: isModule ? "module" : "script",
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: !isModule,
    allowHashBang: true,
  };
  try {
    return parse(source, options);
  } catch (error) {
    const reason = messageOf(error);
    throw new SpillwayError(`The source of ${pathOf(url) || "a function"} cannot be parsed: ${reason}.`);
  }
}

function lineStarts(source: string): number[] {
  const starts = [0];
  for (let at = source.indexOf("\n"); at >= 0; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

/** The function with the text and at the position that V8 gives; null if the script has no such function. */
export function siteAt(script: Script, offset: number, text: string): FunctionSite | null {
  let best: FunctionSite | null = null;
  for (const site of script.lexical.functions) {
    const start = site.holder?.start ?? site.start;
    if (offset < Math.min(start, site.start) || offset > site.end) continue;
    const own = script.source.slice(site.start, site.end);
    const matches = site.form === "method" ? text.endsWith(own) : text === own;
    if (matches && (best === null || site.start >= best.start)) best = site;
  }
  return best;
}

/** "src/clean.ts:12:5", one-based; relative if the file is below the working directory. */
export function showPosition(position: SourcePosition): string {
  const below = position.file.startsWith("/") ? relative(process.cwd(), position.file) : position.file;
  const file = below.startsWith("..") || below === "" ? position.file : below;
  return `${file || "<anonymous>"}:${position.line + 1}:${position.column + 1}`;
}
