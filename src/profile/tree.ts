/**
 * Puts the objects and buffers of one moment into one tree of the user's functions. Engine and Node frames outside the
 * user's outermost frame are left out; memory that no user code made belongs to the engine. Extra leaves stand for the
 * rest of the worker's memory, so that the total is what the system reports.
 */
import type { NodeKind, ProfileNode } from "./format.ts";
import type { MemoryNow } from "./own-memory.ts";
import type { Position, Positions } from "./positions.ts";
import type { NewStack, RawFrame, Snapshot, V8Node } from "./snapshot.ts";

/** Where a recording starts to count. */
export interface Baseline {
  /** V8's last sample and the last buffer from before the recording. */
  readonly ordinal: number;
  readonly buffer: number;
  /** The state when the recording began. */
  readonly snapshot: Snapshot;
  readonly memory: MemoryNow;
}

export interface Moment {
  readonly snapshot: Snapshot;
  readonly memory: MemoryNow;
}

interface Frame {
  readonly name: string;
  readonly position: Position;
}

/** A node under construction. */
class Growing {
  self = 0;
  readonly children = new Map<string, Growing>();

  constructor(
    readonly name: string,
    readonly kind: NodeKind,
    readonly url = "",
    readonly line = -1,
    readonly column = -1,
  ) {}

  child(key: string, make: () => Growing): Growing {
    let found = this.children.get(key);
    if (found === undefined) {
      found = make();
      this.children.set(key, found);
    }
    return found;
  }

  leaf(name: string, kind: NodeKind, bytes: number): void {
    if (bytes > 0) this.child(`leaf ${name}`, () => new Growing(name, kind)).self += bytes;
  }
}

export function lastOrdinal({ v8 }: Snapshot): number {
  return v8.samples.reduce((last, { ordinal }) => Math.max(last, ordinal), 0);
}

/** Bytes of the living objects and buffers that the recording made. */
export function ownBytes({ v8, buffers }: Snapshot, { ordinal: from, buffer }: Baseline): number {
  let bytes = 0;
  for (const { ordinal, size } of v8.samples) if (ordinal > from) bytes += size;
  for (let i = 0; i + 2 < buffers.length; i += 3) if ((buffers[i] ?? 0) > buffer) bytes += buffers[i + 2] ?? 0;
  return bytes;
}

export function treeOf(
  { snapshot, memory }: Moment,
  baseline: Baseline,
  stacks: ReadonlyMap<number, NewStack>,
  positions: Positions,
): ProfileNode {
  const root = new Growing("(root)", "code");
  const engine = new Growing("engine: what no function of yours has made", "engine");
  const objects = addObjects(root, engine, snapshot, baseline, positions);
  const buffers = addBuffers(root, engine, snapshot, baseline, stacks, positions);
  if (engine.children.size > 0) root.children.set("engine", engine);
  addRest(root, snapshot, memory, baseline, objects, buffers);
  return finished(root);
}

/** Returns the bytes of all sampled objects, including those from before the recording. */
function addObjects(
  root: Growing,
  engine: Growing,
  { v8 }: Snapshot,
  { ordinal: from }: Baseline,
  positions: Positions,
): { readonly own: number; readonly all: number } {
  const sizes = new Map<number, number>();
  let [own, all] = [0, 0];
  for (const { nodeId, size, ordinal } of v8.samples) {
    all += size;
    if (ordinal <= from) continue;
    own += size;
    sizes.set(nodeId, (sizes.get(nodeId) ?? 0) + size);
  }
  const path: Frame[] = [];
  const visit = ({ callFrame, id, children }: V8Node): void => {
    const { functionName: name, url, lineNumber, columnNumber } = callFrame;
    if (url !== "") path.push({ name, position: positions.at(url, lineNumber, columnNumber) });
    const size = sizes.get(id) ?? 0;
    if (size > 0) nodeAt(root, engine, path).self += size;
    for (const child of children) visit(child);
    if (url !== "") path.pop();
  };
  visit(v8.head);
  return { own, all };
}

function addBuffers(
  root: Growing,
  engine: Growing,
  { buffers }: Snapshot,
  { buffer: from }: Baseline,
  stacks: ReadonlyMap<number, NewStack>,
  positions: Positions,
): { readonly own: number; readonly all: number } {
  const bytesOf = new Map<number, number>();
  let [own, all] = [0, 0];
  for (let i = 0; i + 2 < buffers.length; i += 3) {
    const [id = 0, stack = 0, bytes = 0] = buffers.subarray(i, i + 3);
    all += bytes;
    if (id <= from) continue;
    own += bytes;
    bytesOf.set(stack, (bytesOf.get(stack) ?? 0) + bytes);
  }
  for (const [id, bytes] of bytesOf) {
    const stack = stacks.get(id);
    if (stack === undefined) continue;
    const path = [...stack.frames].reverse().map((frame) => functionOf(frame, positions));
    const at = nodeAt(root, engine, path);
    const call = callOf(stack, positions);
    const { url, line, column } = call ?? { url: "", line: -1, column: -1 };
    const make = () => new Growing(`${stack.maker} (buffers)`, call === null ? "engine" : "buffer", url, line, column);
    at.child(`${stack.maker} ${url}:${line}:${column}`, make).self += bytes;
  }
  return { own, all };
}

/** The function of a frame, identified by its start like V8's samples. */
function functionOf({ name, url, line, column, startLine, startColumn }: RawFrame, positions: Positions): Frame {
  const isKnown = startLine >= 0;
  return { name, position: positions.at(url, isKnown ? startLine : line, isKnown ? startColumn : column) };
}

/** The user's line that requested the buffer. */
function callOf({ frames }: NewStack, positions: Positions): Position | null {
  for (const { url, line, column } of frames) {
    const position = positions.at(url, line, column);
    if (position.kind === "user") return position;
  }
  return null;
}

/** The node of a path's innermost frame. Paths begin with the outermost frame. */
function nodeAt(root: Growing, engine: Growing, path: readonly Frame[]): Growing {
  const first = path.findIndex(({ position }) => position.kind === "user");
  if (first < 0) {
    const last = path.at(-1);
    return last === undefined ? engine : step(engine, last, "engine");
  }
  let at = root;
  // Skips engine frames below the user's code: the engine makes rows and columns for the function.
  for (const frame of path.slice(first)) if (frame.position.kind !== "engine") at = step(at, frame, "code");
  return at;
}

function step(at: Growing, { name, position }: Frame, kind: NodeKind): Growing {
  const { url, line, column } = position;
  return at.child(
    `${url}:${line}:${column}`,
    () => new Growing(name === "" ? "(anonymous)" : name, kind, url, line, column),
  );
}

/** Adds leaves for memory of the process outside the recording's objects and buffers. */
function addRest(
  root: Growing,
  { heapUsed, heapResident, arrayBuffers, kernel }: Snapshot,
  memory: MemoryNow,
  { snapshot: before, memory: memoryBefore }: Baseline,
  objects: { readonly own: number; readonly all: number },
  buffers: { readonly own: number; readonly all: number },
): void {
  root.leaf("objects from before the profile, and V8's own", "heap", heapUsed - objects.own);
  root.leaf("free room in V8's heap", "engine", heapResident - heapUsed);
  const otherBuffers = Math.max(0, arrayBuffers - buffers.own);
  const buffersBefore = Math.min(before.arrayBuffers, otherBuffers);
  root.leaf("buffers from before the profile", "buffer", buffersBefore);
  root.leaf("buffers of native code", "buffer", otherBuffers - buffersBefore);
  root.leaf("kernel: DuckDB's buffers", "engine", kernel);
  root.leaf("blocks in shared memory", "block", memory.shared);
  const native = memory.private - heapResident - Math.max(arrayBuffers, buffers.own) - kernel;
  const nativeBefore = memoryBefore.private - before.heapResident - before.arrayBuffers - before.kernel;
  const known = Math.max(0, Math.min(native, nativeBefore));
  root.leaf("Node and libraries, as before the profile", "engine", known);
  root.leaf("unattributed: native code", "unattributed", native - known);
}

function finished(root: Growing): ProfileNode {
  let last = 0;
  const finish = ({ name, kind, url, line, column, self, children }: Growing): ProfileNode => {
    last += 1;
    return {
      callFrame: { functionName: name, scriptId: "0", url, lineNumber: line, columnNumber: column },
      selfSize: Math.round(self),
      id: last,
      kind,
      children: [...children.values()].map(finish),
    };
  };
  return finish(root);
}
