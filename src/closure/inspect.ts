/**
 * What V8 knows about a live function: the scopes it closes over with their values, and where its source is. Uses an
 * inspector session of its own on this thread; nothing is printed or kept alive. The debugger is enabled only when a
 * script must be named or read, and off again at `close`, because V8 runs slower under it.
 */
import { type InspectorNotification, Session } from "node:inspector";
import { SpillwayError } from "../errors/index.ts";
import { isErrorNamed, mainGlobal } from "../realm/index.ts";
import { makeScript, type Script, type ScriptDescription } from "./script.ts";

/** One level of a scope chain, innermost first in a chain. */
export interface LiveScope {
  /** "Closure (make)", "Block", "Module", "Script", "Global", … */
  readonly description: string;
  /** V8's copy of the variables. A variable that is not initialised yet reads as undefined. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface LiveFunction {
  readonly scopes: readonly LiveScope[];
  /** null for a function that has no source: native ones and bound ones. */
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber: number } | null;
  readonly bound: { readonly target: unknown; readonly self: unknown; readonly args: readonly unknown[] } | null;
}

export interface Inspector {
  describe(fn: object): LiveFunction;
  /** Without its source where V8 alone needs it: `node:` scripts are described, never parsed. */
  scriptUrl(scriptId: string): string;
  script(scriptId: string): Script;
  /** The values of `this` in the frames that called us, nearest first, with the place of each frame's function. */
  callers(): readonly Caller[];
  close(): void;
}

interface Caller {
  readonly scriptId: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
  readonly self: unknown;
}

interface RemoteValue {
  readonly objectId?: string;
  readonly value?: unknown;
  readonly unserializableValue?: string;
}
interface InternalProperty {
  readonly name: string;
  readonly value?: RemoteValue;
}
type ScriptParsed = InspectorNotification<ScriptDescription>;

const scripts = new Map<string, Script>();
/** Of every script that was ever named; the rest of a description may hold a whole source map, and is not kept. */
const urls = new Map<string, string>();

const SLOT = "spillway.closure";
const GIVEN = `globalThis[Symbol.for("${SLOT}")].give`;

/** Values cross between the protocol and us through one slot of the main global object, there for the call only. */
interface Bridge {
  give: unknown;
  taken: unknown[];
}

export function openInspector(): Inspector {
  const session = new Session();
  session.connect();
  const bridge: Bridge = { give: undefined, taken: [] };
  const main = mainGlobal();
  Object.defineProperty(main, Symbol.for(SLOT), { value: bridge, configurable: true, enumerable: false });

  function post<T>(method: string, params: object): T {
    let answer: { error: Error | null; result: unknown } | null = null;
    session.post(method, params, (error, result) => {
      answer = { error, result };
    });
    // Same-thread sessions answer within the call; this is what lets capturing be synchronous.
    const got = answer as { error: Error | null; result: unknown } | null;
    if (got === null) throw new SpillwayError(`The inspector did not answer ${method}.`);
    if (got.error !== null) throw new SpillwayError(`The inspector refused ${method}: ${got.error.message}.`);
    return got.result as T;
  }

  function remote(value: unknown): string {
    bridge.give = value;
    const { result } = post<{ result: RemoteValue }>("Runtime.evaluate", { expression: GIVEN });
    bridge.give = undefined;
    if (result.objectId === undefined) throw new SpillwayError("The inspector gave no handle for a function.");
    return result.objectId;
  }

  /** The values behind protocol objects, themselves. */
  function local(values: readonly RemoteValue[]): unknown[] {
    bridge.taken = [];
    post("Runtime.callFunctionOn", {
      objectId: remote(bridge),
      functionDeclaration: "function (...values) { this.taken = values; }",
      arguments: values.map(({ objectId, unserializableValue, value }) =>
        objectId !== undefined ? { objectId } : unserializableValue !== undefined ? { unserializableValue } : { value },
      ),
      silent: true,
    });
    const taken = bridge.taken;
    bridge.taken = [];
    return taken;
  }

  const descriptions = new Map<string, ScriptDescription>();
  let debugging = false;

  /** On from the first need until close: each enabling makes V8 name every script again (3 to 5 ms). */
  function debug(): void {
    if (debugging) return;
    debugging = true;
    session.on("Debugger.scriptParsed", ({ params }: ScriptParsed) => {
      descriptions.set(params.scriptId, params);
      urls.set(params.scriptId, params.url);
    });
    post("Debugger.enable", {});
  }

  function known<T>(found: T | undefined, scriptId: string): T {
    if (found === undefined) throw new SpillwayError(`V8 no longer knows script ${scriptId}, which holds a function.`);
    return found;
  }

  return {
    describe(fn) {
      const { internalProperties } = post<{ internalProperties: readonly InternalProperty[] }>(
        "Runtime.getProperties",
        {
          objectId: remote(fn),
          ownProperties: true,
        },
      );
      const internal = (name: string) => internalProperties.find((property) => property.name === name)?.value;
      const place = internal("[[FunctionLocation]]")?.value as LiveFunction["location"] | undefined;
      const scopeList = internal("[[Scopes]]");
      const target = internal("[[TargetFunction]]");
      const [scopes, boundTarget, self, args] = local([
        scopeList ?? {},
        target ?? {},
        internal("[[BoundThis]]") ?? {},
        internal("[[BoundArgs]]") ?? {},
      ]);
      return {
        scopes: Array.from((scopes ?? []) as ArrayLike<{ description: string; object: Record<string, unknown> }>).map(
          ({ description, object }) => ({ description, variables: readable(object) }),
        ),
        location: place ?? null,
        bound: target === undefined ? null : { target: boundTarget, self, args: Array.from((args ?? []) as unknown[]) },
      };
    },
    scriptUrl(scriptId) {
      if (!urls.has(scriptId)) debug();
      return known(urls.get(scriptId), scriptId);
    },
    script(scriptId) {
      const parsed = scripts.get(scriptId);
      if (parsed !== undefined) return parsed;
      debug();
      const description = known(descriptions.get(scriptId), scriptId);
      const { scriptSource } = post<{ scriptSource: string }>("Debugger.getScriptSource", { scriptId });
      const script = makeScript(description, scriptSource);
      scripts.set(scriptId, script);
      return script;
    },
    callers() {
      interface Frame {
        readonly functionLocation?: {
          readonly scriptId: string;
          readonly lineNumber: number;
          readonly columnNumber: number;
        };
        readonly this?: RemoteValue;
      }
      const callers: Caller[] = [];
      // A break point on a function of ours, called here: the stack is looked at from inside the pause, and goes on.
      function here(): void {}
      const onPause = ({ params }: InspectorNotification<{ callFrames: readonly Frame[] }>) => {
        const frames = params.callFrames.filter((frame) => frame.functionLocation !== undefined);
        const selves = local(frames.map((frame) => frame.this ?? {}));
        frames.forEach((frame, i) => {
          if (frame.functionLocation !== undefined) callers.push({ ...frame.functionLocation, self: selves[i] });
        });
      };
      session.on("Debugger.paused", onPause);
      debug();
      const { breakpointId } = post<{ breakpointId: string }>("Debugger.setBreakpointOnFunctionCall", {
        objectId: remote(here),
      });
      here();
      post("Debugger.removeBreakpoint", { breakpointId });
      session.off("Debugger.paused", onPause);
      return callers;
    },
    close() {
      if (debugging) post("Debugger.disable", {});
      session.disconnect();
      Reflect.deleteProperty(main, Symbol.for(SLOT));
    },
  };
}

/** From Node 22 on, V8 throws where a variable is read that is not initialised yet; before, it gives undefined. */
function readable(scope: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const variables: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(scope)) {
    try {
      variables[name] = scope[name];
    } catch (error) {
      if (!isErrorNamed(error, "ReferenceError")) throw error;
      variables[name] = undefined;
    }
  }
  return variables;
}
