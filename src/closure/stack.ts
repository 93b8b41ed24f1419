/**
 * Stack traces of shipped functions, in the user's own positions. Frames of shipped source are looked up in the tables
 * that came with it, frames of modules that the worker imported by their source maps. Frames of Node, of this package
 * and of the caller are left out.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { crc32 } from "node:zlib";
import { ownFolder } from "../place/index.ts";
import { type PayloadProgram, POSITION_WIDTH } from "./payload.ts";
import { originalPosition, pathOf, readSourceMap, type SourceMap, type SourcePosition } from "./source-map.ts";

export { originalPosition, readSourceMap, type SourceMap };

/** A program under the name that its frames have. */
export interface NamedProgram {
  readonly filename: string;
  readonly files: readonly string[];
  readonly positions: Int32Array;
}

const FRAME = /^(\s+at (?:async )?(?:.*? \()?)((?:file:|spillway:|\/|node:|evalmachine|<)[^()]*?):(\d+):(\d+)(\)?)$/;

export function stackMapper(programs: readonly NamedProgram[]): (stack: string) => string {
  const byName = new Map(programs.map((program) => [program.filename, program]));
  return (stack) => {
    const message: string[] = [];
    const frames: string[] = [];
    let ours = 0;
    for (const line of stack.split("\n")) {
      if (!/^\s+at /.test(line)) {
        message.push(line);
        continue;
      }
      const [, before = "", file = "", row = "1", column = "1", after = ""] = FRAME.exec(line) ?? [];
      if (file === "") {
        if (!isOwn(line)) frames.push(line);
        continue;
      }
      const program = byName.get(file);
      const position = originalOf(program, file, Number(row) - 1, Number(column) - 1);
      if (position === null) continue;
      frames.push(`${before}${position.file}:${position.line + 1}:${position.column + 1}${after}`);
      if (program !== undefined) ours = frames.length;
    }
    // The frames below the last shipped frame are the caller's. If there is no shipped frame (an error from a timer),
    // all frames are shown.
    return [...message, ...(ours > 0 ? frames.slice(0, ours) : frames)].join("\n");
  };
}

/** Where a compiled position is in the user's source; null: nowhere, or as it stands in code of ours or of Node. */
export function originalOf(
  program: NamedProgram | undefined,
  file: string,
  line: number,
  column: number,
): SourcePosition | null {
  if (program !== undefined) return lookUp(program, line, column);
  if (file.startsWith("node:") || isOwn(file)) return null;
  if (file.startsWith("<") || file.startsWith("spillway:")) return null;
  const path = pathOf(file);
  const map = mapOfFile(path);
  return (map === null ? null : originalPosition(map, line, column)) ?? { file: path, line, column };
}

function lookUp({ positions, files }: NamedProgram, line: number, column: number): SourcePosition | null {
  let low = 0;
  let high = positions.length / POSITION_WIDTH;
  while (low < high) {
    const middle = (low + high) >> 1;
    const at = middle * POSITION_WIDTH;
    const startLine = positions[at] ?? 0;
    if (startLine < line || (startLine === line && (positions[at + 1] ?? 0) <= column)) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return null;
  const [startLine = 0, startColumn = 0, file = 0, sourceLine = 0, sourceColumn = 0, verbatim = 0] = positions.subarray(
    (low - 1) * POSITION_WIDTH,
  );
  const name = files[file];
  if (name === undefined) return null;
  if (verbatim === 0) return { file: name, line: sourceLine, column: sourceColumn };
  const row = line - startLine;
  return { file: name, line: sourceLine + row, column: row === 0 ? sourceColumn + column - startColumn : column };
}

function isOwn(text: string): boolean {
  return text.includes(ownFolder.href) || text.includes(fileURLToPath(ownFolder));
}

const maps = new Map<string, SourceMap | null>();

/** The source map that a file on disk names. Node maps frames by itself only if it was told to. */
function mapOfFile(path: string): SourceMap | null {
  const known = maps.get(path);
  if (known !== undefined) return known;
  let found: SourceMap | null = null;
  try {
    const names = [...readFileSync(path, "utf8").matchAll(/^\/\/[#@] sourceMappingURL=(\S+)\s*$/gm)];
    const name = names[names.length - 1]?.[1];
    if (name !== undefined) found = readSourceMap(name, pathToFileURL(path).href);
  } catch {
    // A missing file has no map: its frames stay as they are.
  }
  maps.set(path, found);
  return found;
}

/** The name depends on the content: V8 then does not compile and keep the same function again for the next job. */
export function nameProgram(program: PayloadProgram): NamedProgram {
  const mark = `${program.code.length.toString(36)}-${crc32(program.code).toString(36)}`;
  const filename = program.url.startsWith("file:") ? `${program.url}?spillway=${mark}` : `spillway:function-${mark}`;
  return { filename, files: program.files, positions: program.positions.slice() };
}
