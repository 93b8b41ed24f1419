/**
 * Translates compiled positions to positions in the user's source. The main thread provides what only it knows: the
 * position tables of shipped functions, and the source maps of modules that a loader compiled.
 */
import { fileURLToPath, pathToFileURL } from "node:url";
// Imported past the door: the profiling thread must not load the code that captures functions.
import { type NamedProgram, originalOf, originalPosition, readSourceMap, type SourceMap } from "../closure/stack.ts";
import { ownFolder } from "../place/index.ts";

/** The main thread's facts about a script; null when the script's own file says everything. */
export type ScriptFacts =
  | {
      readonly kind: "program";
      readonly filename: string;
      readonly files: readonly string[];
      readonly positions: readonly number[];
    }
  | { readonly kind: "map"; readonly json: string }
  | null;

export interface Position {
  /** "user" is code of the user, or of a package that the user installed. */
  readonly kind: "user" | "engine" | "node";
  readonly url: string;
  readonly line: number;
  readonly column: number;
}

type Known = { readonly program: NamedProgram } | { readonly map: SourceMap } | null;

export class Positions {
  readonly #scripts = new Map<string, Known>();
  readonly #positions = new Map<string, Position>();

  /** Scripts whose facts must be fetched before their positions are known. */
  unknown(urls: Iterable<string>): readonly string[] {
    return [...new Set(urls)].filter((url) => isUsers(url) && !this.#scripts.has(url));
  }

  learn(url: string, facts: ScriptFacts): void {
    if (facts?.kind === "program") {
      const { filename, files, positions } = facts;
      this.#scripts.set(url, { program: { filename, files, positions: Int32Array.from(positions) } });
      return;
    }
    const map = facts === null ? null : readSourceMap(`data:application/json,${encodeURIComponent(facts.json)}`, url);
    this.#scripts.set(url, map === null ? null : { map });
  }

  at(url: string, line: number, column: number): Position {
    const key = `${url}:${line}:${column}`;
    let found = this.#positions.get(key);
    if (found === undefined) {
      found = this.#find(url, line, column);
      this.#positions.set(key, found);
    }
    return found;
  }

  #find(url: string, line: number, column: number): Position {
    if (!isUsers(url)) return { kind: isOwn(url) ? "engine" : "node", url, line, column };
    const known = this.#scripts.get(url) ?? null;
    const place =
      known !== null && "map" in known
        ? originalPosition(known.map, line, column)
        : originalOf(known?.program, url, line, column);
    if (place === null) return { kind: known === null ? "user" : "engine", url, line, column };
    return { kind: "user", url: urlOf(place.file), line: place.line, column: place.column };
  }
}

/** A shipped function has a script name of its own, or the name of the user's file. */
function isUsers(url: string): boolean {
  return url !== "" && !url.startsWith("node:") && !isOwn(url);
}

const own = [ownFolder.href, fileURLToPath(ownFolder)];

function isOwn(url: string): boolean {
  return own.some((folder) => url.startsWith(folder));
}

function urlOf(file: string): string {
  return file.startsWith("/") ? pathToFileURL(file).href : file;
}
