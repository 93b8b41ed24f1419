/**
 * What V8 knows about a live function: the scopes it closes over with their values, and where its source is. Uses an
 * inspector session on this thread; nothing is printed or kept alive. The debugger is enabled only when a script must
 * be named or read, and disabled at `close`, because V8 runs slower under it.
 */
import { type InspectorNotification, Session } from "node:inspector";
import { SpillwayError } from "../errors/index.ts";
import { isErrorNamed, mainGlobal } from "../realm/index.ts";
import { makeScript, type Script, type ScriptDescription } from "./script.ts";

/** One level of a scope chain. A chain begins with the innermost level. */
export interface LiveScope {
  /** "Closure (make)", "Block", "Module", "Script", "Global", … */
  readonly description: string;
  /** V8's copy of the variables. A variable that is not initialised yet reads as undefined. */
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface LiveFunction {
  readonly scopes: readonly LiveScope[];
  /** Null for a function without source: native and bound functions. */
  readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber: number } | null;
  readonly bound: { readonly target: unknown; readonly self: unknown; readonly args: readonly unknown[] } | null;
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
interface Frame {
  readonly functionLocation?: NonNullable<LiveFunction["location"]>;
  readonly this?: RemoteValue;
}
interface InternalProperty {
  readonly name: string;
  readonly value?: RemoteValue;
}
type ScriptParsed = InspectorNotification<ScriptDescription>;

const scripts = new Map<string, Script>();
/**
 * The URLs of all scripts that were ever named. The rest of a description is not kept, because it may contain a whole
 * source map.
 */
const urls = new Map<string, string>();

const SLOT = "spillway.closure";
const GIVEN = `globalThis[Symbol.for("${SLOT}")].give`;

/**
 * Values pass between the protocol and this code through one slot of the main global object, which exists only during
 * the call.
 */
interface Bridge {
  give: unknown;
  taken: unknown[];
}

export class Inspector {
  readonly #session = new Session();
  readonly #bridge: Bridge = { give: undefined, taken: [] };
  readonly #main = mainGlobal();
  readonly #descriptions = new Map<string, ScriptDescription>();
  #isDebugging = false;

  constructor() {
    this.#session.connect();
    const slot = { value: this.#bridge, configurable: true, enumerable: false };
    Object.defineProperty(this.#main, Symbol.for(SLOT), slot);
  }

  describe(fn: object): LiveFunction {
    const asked = { objectId: this.#remote(fn), ownProperties: true };
    const { internalProperties } = this.#post<{ internalProperties: readonly InternalProperty[] }>(
      "Runtime.getProperties",
      asked,
    );
    const internal = (name: string) => internalProperties.find((property) => property.name === name)?.value;
    const place = internal("[[FunctionLocation]]")?.value as LiveFunction["location"] | undefined;
    const target = internal("[[TargetFunction]]");
    const [scopes, boundTarget, self, args] = this.#local([
      internal("[[Scopes]]") ?? {},
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
  }

  /** Named without reading its source if V8 alone needs it: `node:` scripts are described, never parsed. */
  scriptUrl(scriptId: string): string {
    if (!urls.has(scriptId)) this.#debug();
    return known(urls.get(scriptId), scriptId);
  }

  script(scriptId: string): Script {
    const parsed = scripts.get(scriptId);
    if (parsed !== undefined) return parsed;
    this.#debug();
    const description = known(this.#descriptions.get(scriptId), scriptId);
    const { scriptSource } = this.#post<{ scriptSource: string }>("Debugger.getScriptSource", { scriptId });
    const script = makeScript(description, scriptSource);
    scripts.set(scriptId, script);
    return script;
  }

  /**
   * The values of `this` in the frames that called this code, nearest first, with the place of each frame's function.
   */
  callers(): readonly Caller[] {
    const callers: Caller[] = [];
    // A break point on a function that is called here: the stack is read during the pause, then execution goes on.
    function here(): void {}
    const onPause = ({ params }: InspectorNotification<{ callFrames: readonly Frame[] }>) => {
      const frames = params.callFrames.filter((frame) => frame.functionLocation !== undefined);
      const selves = this.#local(frames.map((frame) => frame.this ?? {}));
      frames.forEach((frame, i) => {
        if (frame.functionLocation !== undefined) callers.push({ ...frame.functionLocation, self: selves[i] });
      });
    };
    this.#session.on("Debugger.paused", onPause);
    this.#debug();
    const { breakpointId } = this.#post<{ breakpointId: string }>("Debugger.setBreakpointOnFunctionCall", {
      objectId: this.#remote(here),
    });
    here();
    this.#post("Debugger.removeBreakpoint", { breakpointId });
    this.#session.off("Debugger.paused", onPause);
    return callers;
  }

  close(): void {
    if (this.#isDebugging) this.#post("Debugger.disable", {});
    this.#session.disconnect();
    Reflect.deleteProperty(this.#main, Symbol.for(SLOT));
  }

  /** Enabled when first needed, until `close`: each time it is enabled, V8 names every script again (3 to 5 ms). */
  #debug(): void {
    if (this.#isDebugging) return;
    this.#isDebugging = true;
    this.#session.on("Debugger.scriptParsed", ({ params }: ScriptParsed) => {
      this.#descriptions.set(params.scriptId, params);
      urls.set(params.scriptId, params.url);
    });
    this.#post("Debugger.enable", {});
  }

  #post<T>(method: string, params: object): T {
    let answer: { error: Error | null; result: unknown } | null = null;
    this.#session.post(method, params, (error, result) => {
      answer = { error, result };
    });
    // A session on the same thread answers within the call, which makes synchronous capturing possible.
    const got = answer as { error: Error | null; result: unknown } | null;
    if (got === null) throw new SpillwayError(`The inspector did not answer ${method}.`);
    if (got.error !== null) throw new SpillwayError(`The inspector refused ${method}: ${got.error.message}.`);
    return got.result as T;
  }

  #remote(value: unknown): string {
    this.#bridge.give = value;
    const { result } = this.#post<{ result: RemoteValue }>("Runtime.evaluate", { expression: GIVEN });
    this.#bridge.give = undefined;
    if (result.objectId === undefined) throw new SpillwayError("The inspector gave no handle for a function.");
    return result.objectId;
  }

  /** The values behind protocol objects. */
  #local(values: readonly RemoteValue[]): unknown[] {
    this.#bridge.taken = [];
    this.#post("Runtime.callFunctionOn", {
      objectId: this.#remote(this.#bridge),
      functionDeclaration: "function (...values) { this.taken = values; }",
      arguments: values.map(({ objectId, unserializableValue, value }) =>
        objectId !== undefined ? { objectId } : unserializableValue !== undefined ? { unserializableValue } : { value },
      ),
      silent: true,
    });
    const taken = this.#bridge.taken;
    this.#bridge.taken = [];
    return taken;
  }
}

function known<T>(found: T | undefined, scriptId: string): T {
  if (found === undefined) throw new SpillwayError(`V8 no longer knows script ${scriptId}, which holds a function.`);
  return found;
}

/** From Node 22 on, V8 throws when a variable is read that is not initialised yet; earlier it gave undefined. */
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
