/**
 * Maps compiled positions to the user's own. Reads the source map that a script names (inline, or a file next to it),
 * as segments in order. Positions are zero-based here, and one-based when they are shown.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isErrorNamed } from "../realm/index.ts";

export interface SourcePosition {
  /** A file path if the source is a file; otherwise the map's own name for it. */
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** From this compiled position on, the code came from that position of that source. */
interface Segment {
  readonly line: number;
  readonly column: number;
  readonly source: number;
  readonly sourceLine: number;
  readonly sourceColumn: number;
}

export interface SourceMap {
  readonly sources: readonly string[];
  readonly segments: readonly Segment[];
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT_OF = new Map(Array.from(DIGITS, (digit, value) => [digit.charCodeAt(0), value]));

interface RawMap {
  readonly mappings: string;
  readonly sources: readonly (string | null)[];
  readonly sourceRoot?: string;
}

/** The map that `url` (from a sourceMappingURL comment) names; null if there is none that can be read. */
export function readSourceMap(url: string, scriptUrl: string): SourceMap | null {
  const text = url.startsWith("data:") ? readDataUrl(url) : readMapFile(url, scriptUrl);
  if (text === null) return null;
  try {
    const raw = JSON.parse(text) as Partial<RawMap>;
    if (typeof raw.mappings !== "string" || !Array.isArray(raw.sources)) return null;
    const base = url.startsWith("data:") ? scriptUrl : resolveUrl(url, scriptUrl);
    const root = raw.sourceRoot ? `${raw.sourceRoot.replace(/\/$/, "")}/` : "";
    return {
      sources: raw.sources.map((source) => pathOf(resolveUrl(root + (source ?? ""), base))),
      segments: decode(raw.mappings),
    };
  } catch (error) {
    // A broken map must not fail the job: compiled positions are shown instead.
    if (isErrorNamed(error, "SyntaxError")) return null;
    throw error;
  }
}

function readDataUrl(url: string): string | null {
  const comma = url.indexOf(",");
  if (comma < 0) return null;
  const body = url.slice(comma + 1);
  return url.slice(0, comma).endsWith(";base64") ? Buffer.from(body, "base64").toString() : decodeURIComponent(body);
}

function readMapFile(url: string, scriptUrl: string): string | null {
  const resolved = resolveUrl(url, scriptUrl);
  if (!resolved.startsWith("file:")) return null;
  try {
    return readFileSync(fileURLToPath(resolved), "utf8");
  } catch {
    return null;
  }
}

function resolveUrl(reference: string, base: string): string {
  return URL.canParse(reference, base) ? new URL(reference, base).href : reference;
}

/** The path of a file URL; any other text unchanged. */
export function pathOf(url: string): string {
  return url.startsWith("file:") ? fileURLToPath(url) : url;
}

function decode(mappings: string): Segment[] {
  const segments: Segment[] = [];
  let line = 0;
  let column = 0;
  let source = 0;
  let sourceLine = 0;
  let sourceColumn = 0;
  let at = 0;

  function number(): number {
    let value = 0;
    let shift = 0;
    for (;;) {
      const digit = DIGIT_OF.get(mappings.charCodeAt(at));
      if (digit === undefined) throw new SyntaxError(`Bad source map digit at ${at}.`);
      at++;
      value += (digit & 31) * 2 ** shift;
      if (digit < 32) return value % 2 === 1 ? -(value - 1) / 2 : value / 2;
      shift += 5;
    }
  }
  const ended = () => at >= mappings.length || mappings[at] === "," || mappings[at] === ";";

  while (at < mappings.length) {
    const char = mappings[at];
    if (char === ";") {
      line++;
      column = 0;
      at++;
    } else if (char === ",") at++;
    else {
      column += number();
      if (ended()) continue;
      source += number();
      sourceLine += number();
      sourceColumn += number();
      if (!ended()) number();
      segments.push({ line, column, source, sourceLine, sourceColumn });
    }
  }
  return segments;
}

/** Index of the last segment at or before a compiled position, or -1. */
export function segmentBefore(segments: readonly Segment[], line: number, column: number): number {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const segment = segments[middle];
    if (segment !== undefined && (segment.line < line || (segment.line === line && segment.column <= column))) {
      low = middle + 1;
    } else high = middle;
  }
  return low - 1;
}

export function originalPosition(map: SourceMap, line: number, column: number): SourcePosition | null {
  const segment = map.segments[segmentBefore(map.segments, line, column)];
  if (segment === undefined || segment.line !== line) return null;
  const file = map.sources[segment.source];
  return file === undefined ? null : { file, line: segment.sourceLine, column: segment.sourceColumn };
}
