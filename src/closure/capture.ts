/**
 * Takes a function of the running program with everything it uses, and makes it a payload that another process can
 * call. Synchronous, so that an impossible capture is an error on the line that builds the plan.
 */
import { serialize } from "node:v8";
import type { Function as JsFunction } from "acorn";
import { CaptureError } from "../errors/index.ts";
import { messageOf } from "../realm/index.ts";
import { calledMethod } from "./called-method.ts";
import { columnsRead } from "./columns.ts";
import { type Found, Functions, nameOf } from "./functions.ts";
import { Inspector } from "./inspect.ts";
import { programLoaders } from "./loaders.ts";
import type { PassedColumns, ReturnedNames } from "./passed-shape.ts";
import { columnsTold, NOTHING_TOLD, type ToldColumns } from "./passes.ts";
import { emptySlots, PAYLOAD_VERSION, type Payload } from "./payload.ts";
import type { Gives } from "./results.ts";
import { showPosition } from "./script.ts";
import type { Trail } from "./trail.ts";

export interface CaptureOptions {
  /** "map", for messages. */
  readonly operator: string;
  /** Arguments that travel with it. In the worker they are passed to a class's constructor. */
  readonly constructorArgs?: readonly unknown[];
  /** The form of what one call returns. Set if the caller wants to know which columns pass through. */
  readonly gives?: Gives;
}

interface CapturedFunction {
  /** Self-contained; `reviveFunction` makes it callable again. Captured values are copies: each worker has its own. */
  readonly payload: Uint8Array;
  readonly name: string;
  readonly isClass: boolean;
  /** Written as an async function. */
  readonly isAsync: boolean;
  /** Written as a generator, async or not. */
  readonly isGenerator: boolean;
  /** The properties of its first argument that it can read, if its source proves that it reads no others. */
  readonly columns: readonly string[] | null;
  /** Columns that it provably returns unchanged; null if none can be proved. */
  readonly passes: PassedColumns | null;
  /** Columns that it returns according to its source; null if the source does not tell. */
  readonly returns: ReturnedNames | null;
  /** "clean.ts:12:5" in the user's own source. */
  readonly location: string | null;
}

// biome-ignore lint/complexity/noBannedTypes: any function of the user's may be given.
export function captureFunction(fn: Function, options: CaptureOptions): CapturedFunction {
  if (typeof fn !== "function") {
    throw new CaptureError(`${options.operator}: expected a function or a class, got ${typeof fn}.`, "", null);
  }
  const inspector = new Inspector();
  try {
    return capture(fn, options, inspector);
  } finally {
    inspector.close();
  }
}

function capture(fn: object, options: CaptureOptions, inspector: Inspector): CapturedFunction {
  const functions = new Functions(options.operator, inspector, fn);
  const { graph } = functions;
  const place = functions.find(fn);
  const location = place === null ? null : showPosition(place.script.original(place.site.start));
  const name = nameOf(fn);
  const trail: Trail = {
    name: name || "the function",
    within: null,
    holder: null,
    where: location,
    user: name,
    userTrail: null,
    isCaptured: true,
  };

  const root = graph.node(fn, trail);
  const constructorArgs = emptySlots();
  for (const [i, arg] of (options.constructorArgs ?? []).entries()) {
    graph.put(constructorArgs, arg, { ...trail, name: `constructorArgs[${i}]`, isCaptured: false });
  }
  const buffers = graph.finish();
  const isClass = isClassFunction(fn, place);
  const payload: Payload = {
    version: PAYLOAD_VERSION,
    name,
    loaders: programLoaders(graph.modules),
    modules: graph.modules,
    programs: functions.programs(),
    nodes: graph.nodes,
    buffers,
    root,
    isClass,
    constructorArgs,
  };
  const told = (gives: Gives): ToldColumns => {
    const called = isClass ? calledMethod(fn, (one) => functions.find(one)) : place;
    return called === null ? NOTHING_TOLD : columnsTold(called.script.lexical, called.site, gives);
  };
  const node = place === null || place.site.form === "class" ? null : (place.site.node as JsFunction);
  return {
    payload: pack(payload, options.operator, location),
    name,
    isClass,
    isAsync: node?.async ?? false,
    isGenerator: node?.generator ?? false,
    columns: place === null || isClass ? null : columnsRead(place.script.lexical, place.site),
    ...(place === null || options.gives === undefined ? NOTHING_TOLD : told(options.gives)),
    location,
  };
}

/** A class, or a class as a compiler wrote it: a function whose prototype has `call`. */
function isClassFunction(fn: object, place: Found | null): boolean {
  if (place?.site.form === "class") return true;
  const prototype: unknown = Object.getOwnPropertyDescriptor(fn, "prototype")?.value;
  return place !== null && typeof prototype === "object" && prototype !== null && Object.hasOwn(prototype, "call");
}

function pack(payload: Payload, operator: string, location: string | null): Uint8Array {
  try {
    return serialize(payload);
  } catch (error) {
    const reason = messageOf(error);
    throw new CaptureError(
      `${operator}: what the function ${payload.name ? `"${payload.name}" ` : ""}captures cannot be serialised: ${reason} ` +
        "Write large or deeply nested data to a file and read it inside the function.",
      payload.name,
      location,
    );
  }
}
