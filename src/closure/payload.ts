/**
 * A captured function as it travels: programs (source with the scopes they need), and a graph of values. Everything
 * here survives v8.serialize. Plain data is embedded. What plain serialising would lose (functions, classes,
 * prototypes, views of one buffer) is a node, and a link says which slot contains which node.
 */

export const PAYLOAD_VERSION = 1;

export type NodeId = number;

/** Values in order. `links` contains pairs (index, node) for the values that are nodes. */
export interface Slots {
  readonly values: unknown[];
  readonly links: number[];
}

export function emptySlots(): Slots {
  return { values: [], links: [] };
}

export const WRITABLE = 1;
export const ENUMERABLE = 2;
export const CONFIGURABLE = 4;
export const ORDINARY = WRITABLE | ENUMERABLE | CONFIGURABLE;

interface Accessor {
  readonly name: string | NodeId;
  readonly get: NodeId | null;
  readonly set: NodeId | null;
  readonly flags: number;
}

/** Own properties. A name that is a number is the node of a symbol. */
export interface Properties {
  names: (string | NodeId)[];
  readonly slots: Slots;
  /** One for each name; null if all are ordinary. */
  flags: number[] | null;
  accessors: Accessor[] | null;
}

export type Integrity = "extensible" | "closed" | "sealed" | "frozen";

/** How a node's value is made, before its properties are set. */
export type Origin =
  | { readonly kind: "object" }
  | { readonly kind: "array"; readonly length: number }
  | { readonly kind: "map"; readonly entries: Slots }
  | { readonly kind: "set"; readonly entries: Slots }
  /** `new` of a builtin that contains only what its arguments say: Date, RegExp, URL, Intl.NumberFormat, … */
  | { readonly kind: "new"; readonly builtin: string; readonly args: readonly unknown[] }
  | { readonly kind: "error" }
  | { readonly kind: "boxed"; readonly primitive: unknown }
  | { readonly kind: "buffer"; readonly buffer: number }
  | {
      readonly kind: "view";
      readonly builtin: string;
      readonly buffer: number;
      readonly offset: number;
      readonly length: number;
    }
  | { readonly kind: "symbol"; readonly wellKnown: boolean; readonly key: string }
  | { readonly kind: "builtin"; readonly path: readonly string[] }
  | { readonly kind: "prototype"; readonly of: NodeId }
  | { readonly kind: "import"; readonly module: number; readonly path: readonly string[] }
  | { readonly kind: "require"; readonly from: string }
  | { readonly kind: "bound"; readonly target: NodeId; readonly selfAndArgs: Slots }
  | {
      readonly kind: "function";
      readonly program: number;
      readonly piece: number;
      readonly name: string;
      readonly isClass: boolean;
      /** The class it extends, which must exist first. */
      readonly parent: NodeId | null;
    };

export interface ValueNode {
  readonly origin: Origin;
  /** undefined: the prototype that the origin gives; null: no prototype. */
  readonly prototype?: NodeId | null;
  readonly properties?: Properties;
  readonly integrity?: Integrity;
}

/** A module to load in the worker, under the name that the user's file uses. */
export interface ModuleRequest {
  /** The user's file, as a URL: relative names and packages are resolved from it. */
  readonly base: string;
  readonly specifier: string;
  readonly form: "import" | "require";
  readonly attributes: Readonly<Record<string, string>> | null;
  /** What compilers wrap around `require`, so that compiled code finds `default` and names where it expects them. */
  readonly interop: "none" | "default" | "star" | "node";
}

export interface LoaderRequest {
  readonly url: string;
  /** `--import` and `--require` run a module that registers itself; `--loader` names the hooks. */
  readonly how: "import" | "register";
}

/** The source of all functions that share an outermost scope. */
export interface PayloadProgram {
  /** URL of the user's script; "" if it has none. */
  readonly url: string;
  readonly code: string;
  /** Rows of POSITION_WIDTH numbers, in order of generated position. */
  readonly positions: Int32Array;
  readonly files: readonly string[];
  /** Variables that the code declares, in the order of its setters. */
  readonly variables: Slots;
}

/** Generated line and column, index into `files`, line and column there, 1 if the text after it is verbatim. */
export const POSITION_WIDTH = 6;

export interface Payload {
  readonly version: typeof PAYLOAD_VERSION;
  readonly name: string;
  /** Module loaders of the program (a TypeScript runner, for example), to be registered before anything is imported. */
  readonly loaders: readonly LoaderRequest[];
  readonly modules: readonly ModuleRequest[];
  readonly programs: readonly PayloadProgram[];
  readonly nodes: readonly ValueNode[];
  readonly buffers: readonly Uint8Array[];
  readonly root: NodeId;
  readonly isClass: boolean;
  readonly constructorArgs: Slots;
}

/** All plain objects share one origin, which is then serialised only once. */
export const OBJECT: Origin = { kind: "object" };

/** One of Node's own modules. */
export function nodeModule(specifier: string): ModuleRequest {
  return { base: "", specifier, form: "require", attributes: null, interop: "none" };
}
