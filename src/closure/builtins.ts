/**
 * Values that exist in every Node process and therefore travel by name: `Math.max`, `Map.prototype`, the exports of
 * `node:fs`. They are found by identity, never by their properties.
 */
import { builtinModules, createRequire } from "node:module";
import { ownUrl } from "../place/index.ts";
import { globalObjects, mainGlobal } from "../realm/index.ts";

const require = createRequire(ownUrl);

/** Builtins whose instances `new` rebuilds exactly, with arguments that can be read from the instance. */
const REMADE: ReadonlyMap<string, (value: never) => readonly unknown[]> = new Map<
  string,
  (value: never) => readonly unknown[]
>([
  ["Date", (value: Date) => [value.getTime()]],
  ["RegExp", (value: RegExp) => [value.source, value.flags]],
  ["URL", (value: URL) => [value.href]],
  ["URLSearchParams", (value: URLSearchParams) => [value.toString()]],
  ["TextEncoder", () => []],
  [
    "TextDecoder",
    (value: InstanceType<typeof TextDecoder>) => [value.encoding, { fatal: value.fatal, ignoreBOM: value.ignoreBOM }],
  ],
  ...["Collator", "DateTimeFormat", "ListFormat", "NumberFormat", "PluralRules", "RelativeTimeFormat", "Segmenter"].map(
    (name): [string, (value: never) => readonly unknown[]] => [
      `Intl.${name}`,
      (value: { resolvedOptions(): { locale: string } }) => {
        const options = value.resolvedOptions();
        return [options.locale, options];
      },
    ],
  ),
  [
    "Intl.DisplayNames",
    (value: Intl.DisplayNames) => {
      const options = value.resolvedOptions();
      return [options.locale, options];
    },
  ],
]);

let prototypesOfRemade: Map<object, string> | null = null;
const prototypes = new WeakMap<object, string>();

/** "Map" for `Map.prototype`, of this realm or another; "" if the object is no prototype of the language. */
export function builtinOf(prototype: object | null): string {
  if (prototype === null) return "";
  const known = prototypes.get(prototype);
  if (known !== undefined) return known;
  const name = nativeName(Object.getOwnPropertyDescriptor(prototype, "constructor")?.value, prototype);
  prototypes.set(prototype, name);
  return name;
}

/** V8 prints native functions of all realms in the same way, and programs cannot imitate it. */
function nativeName(maker: unknown, prototype: object): string {
  if (typeof maker !== "function" || maker.prototype !== prototype) return "";
  const name = /^function (\w+)\(\) \{ \[native code\] \}$/.exec(Function.prototype.toString.call(maker))?.[1] ?? "";
  return LANGUAGE.has(name) ? name : "";
}

/** How to make this object again with a builtin's constructor; null if that is impossible. */
export function remake(value: object): { builtin: string; args: readonly unknown[] } | null {
  prototypesOfRemade ??= new Map(
    globalObjects().flatMap((global) =>
      Array.from(REMADE.keys(), (path): [object, string] => {
        return [(resolveBuiltin(path.split("."), global) as { prototype: object }).prototype, path];
      }),
    ),
  );
  for (let at = Object.getPrototypeOf(value); at !== null; at = Object.getPrototypeOf(at)) {
    const builtin = prototypesOfRemade.get(at);
    const read = builtin === undefined ? undefined : REMADE.get(builtin);
    if (builtin !== undefined && read !== undefined) return { builtin, args: read(value as never) };
  }
  return null;
}

export function resolveBuiltin(path: readonly string[], from: object = globalThis): unknown {
  let value: unknown = from;
  for (const name of path) value = Reflect.get(Object(value), name);
  return value;
}

let named: Map<unknown, readonly string[]> | null = null;
let known: Map<unknown, readonly string[]> | null = null;
let nodeModules: { readonly found: Map<unknown, readonly string[]>; readonly loaded: number } | null = null;

/** The path from the global object to this value, or null. */
export function builtinPath(value: unknown): readonly string[] | null {
  named ??= new Map(
    globalObjects().flatMap((global) => [...namedGlobals(global), [global.process.env, ["process", "env"]] as const]),
  );
  const top = named.get(value);
  if (top !== undefined) return top;
  // Only functions and prototypes are nested more deeply. The whole walk costs 4 ms, and most captures do not need it.
  if (typeof value !== "function" && !Object.hasOwn(Object(value), "constructor")) return null;
  known ??= walkGlobals();
  return known.get(value) ?? pathInOtherRealm(value);
}

/** In a realm whose global object is out of reach, only constructors and prototypes can be recognised. */
function pathInOtherRealm(value: unknown): readonly string[] | null {
  if (typeof value === "function") {
    const name = builtinOf(value.prototype ?? null);
    return name !== "" && value.prototype.constructor === value ? [name] : null;
  }
  const name = typeof value === "object" ? builtinOf(value) : "";
  return name === "" ? null : [name, "prototype"];
}

/** `["node:fs", "readFile"]` for an export of a loaded builtin module, or null. */
export function builtinModulePath(value: unknown): readonly string[] | null {
  const loaded = loadedModules().length;
  if (nodeModules === null || nodeModules.loaded !== loaded) nodeModules = { found: walkModules(), loaded };
  return nodeModules.found.get(value) ?? null;
}

function* namedGlobals(global: typeof globalThis): Iterable<[unknown, readonly string[]]> {
  for (const name of Object.getOwnPropertyNames(global).filter(isBuiltinGlobal)) {
    const descriptor = Object.getOwnPropertyDescriptor(global, name);
    const value: unknown = name === "process" ? global.process : name === "Buffer" ? global.Buffer : descriptor?.value;
    if ((typeof value === "object" && value !== null) || typeof value === "function") yield [value, [name]];
  }
  yield [global, []];
}

function loadedModules(): readonly string[] {
  return (mainGlobal().process as { moduleLoadList?: readonly string[] }).moduleLoadList ?? [];
}

function walkGlobals(): Map<unknown, readonly string[]> {
  const found = new Map<unknown, readonly string[]>();
  const visit = (value: unknown, path: readonly string[], depth: number) => {
    if ((typeof value !== "object" && typeof value !== "function") || value === null || found.has(value)) return;
    found.set(value, path);
    if (depth === 0) return;
    for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
      if ("value" in descriptor && name !== "constructor") visit(descriptor.value, [...path, name], depth - 1);
    }
  };
  for (const [value, path] of globalObjects().flatMap((global) => [...namedGlobals(global)])) {
    // Of objects that belong to the process, only the methods are the same in every process.
    const isLocal = ["process", "console", "performance"].includes(path[0] ?? "process");
    visit(value, path, path.length === 0 ? 0 : isLocal ? 1 : 3);
  }
  return found;
}

function walkModules(): Map<unknown, readonly string[]> {
  const found = new Map<unknown, readonly string[]>();
  const loaded = new Set(loadedModules());
  for (const name of builtinModules) {
    if (name.startsWith("_") || !loaded.has(`NativeModule ${name}`)) continue;
    const exports: unknown = require(name);
    const path = `node:${name.replace(/^node:/, "")}`;
    if (!found.has(exports)) found.set(exports, [path]);
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(Object(exports)))) {
      const value: unknown = descriptor.value;
      if ((typeof value === "function" || typeof value === "object") && value !== null && !found.has(value)) {
        found.set(value, [path, key]);
      }
    }
  }
  return found;
}

/** Globals of the language, up to Node 24. */
const LANGUAGE = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp
  Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis
  JSON Math Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array
  Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set Iterator WeakMap
  WeakSet WeakRef Proxy Reflect FinalizationRegistry DisposableStack AsyncDisposableStack decodeURI decodeURIComponent
  encodeURI encodeURIComponent escape unescape eval isFinite isNaN SharedArrayBuffer WebAssembly Temporal`.split(/\s+/),
);

/** Globals of Node. What a program put on the global object is not included. */
const GLOBALS = new Set([
  ...LANGUAGE,
  ...`console process global Buffer clearImmediate setImmediate clearInterval clearTimeout setInterval setTimeout
  queueMicrotask structuredClone atob btoa performance fetch crypto navigator localStorage sessionStorage Storage
  AbortController AbortSignal Blob BroadcastChannel ByteLengthQueuingStrategy CloseEvent CompressionStream
  CountQueuingStrategy Crypto CryptoKey CustomEvent DecompressionStream DOMException Event EventSource EventTarget File
  FormData Headers MessageChannel MessageEvent MessagePort Navigator Performance PerformanceEntry PerformanceMark
  PerformanceMeasure PerformanceObserver PerformanceObserverEntryList PerformanceResourceTiming
  ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest
  ReadableStreamDefaultController ReadableStreamDefaultReader Request Response SubtleCrypto TextDecoder
  TextDecoderStream TextEncoder TextEncoderStream TransformStream TransformStreamDefaultController URL URLPattern
  URLSearchParams WebSocket WritableStream WritableStreamDefaultController WritableStreamDefaultWriter`.split(/\s+/),
]);

export function isBuiltinGlobal(name: string): boolean {
  return GLOBALS.has(name);
}
