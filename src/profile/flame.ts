/** Reads a profile file into a tree that can be drawn at once. Also reads `.heapprofile` files of other programs. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { SourceError } from "../errors/index.ts";
import { messageOf } from "../realm/index.ts";
import { isHeader } from "./files.ts";
import type { NodeKind } from "./format.ts";

/** A heap profile as trees that can be drawn at once. */
export interface FlameProfile {
  readonly title: string;
  readonly views: readonly { readonly name: string; readonly root: FlameNode }[];
  /** Pairs of milliseconds since the profile's start and bytes of the worker's private memory. */
  readonly curve: readonly (readonly [number, number])[];
  /** For each view, its time on the curve. */
  readonly moments: readonly number[];
}

interface FlameNode {
  readonly name: string;
  /** `file:line`; null when it is unknown. */
  readonly place: string | null;
  readonly kind: NodeKind;
  /** Bytes of this node and all nodes below it. */
  readonly total: number;
  readonly own: number;
  readonly children: readonly FlameNode[];
}

const KINDS: ReadonlySet<string> = new Set<NodeKind>(["code", "heap", "buffer", "block", "engine", "unattributed"]);
/** V8 records at most 128 frames. A deeper tree was made to break its readers. */
const DEEPEST = 1000;

export function flameProfile(file: string): FlameProfile {
  try {
    return flameOf(JSON.parse(readFileSync(file, "utf8")), basename(file));
  } catch (error) {
    throw new SourceError(`${file} cannot be read as a heap profile: ${messageOf(error)}`, file);
  }
}

function flameOf(file: unknown, name: string): FlameProfile {
  const head = field(file, "head");
  if (typeof field(head, "selfSize") !== "number") throw new Error("it has no tree of sizes (`head`).");
  const header = field(file, "spillway");
  const views = list(field(file, "views"));
  return {
    title: isHeader(header) ? `${header.title}, worker ${header.worker}` : name,
    views: [
      { name: "peak", root: nodeOf(head, 0) },
      ...views.map((view) => ({ name: String(field(view, "name")), root: nodeOf(field(view, "head"), 0) })),
    ],
    curve: list(field(file, "curve")).map((point) => [number(list(point)[0]), number(list(point)[1])]),
    moments: [number(field(file, "peakAt")), ...views.map((view) => number(field(view, "at")))],
  };
}

function nodeOf(node: unknown, depth: number): FlameNode {
  if (depth > DEEPEST) throw new Error(`its tree is deeper than ${DEEPEST} levels.`);
  const callFrame = field(node, "callFrame");
  const own = number(field(node, "selfSize"));
  const children = list(field(node, "children")).map((child) => nodeOf(child, depth + 1));
  const kind = field(node, "kind");
  return {
    name: String(field(callFrame, "functionName") || "(anonymous)"),
    place: placeOf(callFrame),
    kind: isKind(kind) ? kind : "code",
    total: children.reduce((sum, { total }) => sum + total, own),
    own,
    children,
  };
}

function placeOf(callFrame: unknown): string | null {
  const url = String(field(callFrame, "url") ?? "");
  if (url === "") return null;
  const file = url.startsWith("file:") && URL.canParse(url) ? fileURLToPath(url) : url;
  const line = number(field(callFrame, "lineNumber"));
  return line < 0 ? file : `${file}:${line + 1}`;
}

function isKind(kind: unknown): kind is NodeKind {
  return typeof kind === "string" && KINDS.has(kind);
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function number(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}
