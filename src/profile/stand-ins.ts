/**
 * While a profile runs, stand-ins replace the constructors and methods that make buffers, and report each buffer. The
 * stand-ins are proxies, so `instanceof`, subclasses, `new.target`, names and static methods work as before.
 * `constructor` of each prototype is its stand-in, so `value.constructor === Uint8Array` holds. The returned function
 * puts everything back.
 */
import { isAnyArrayBuffer } from "../realm/index.ts";
import type { Buffers } from "./buffers.ts";

type AnyFunction = (...args: never[]) => unknown;

const VIEWS = [
  "Int8Array",
  "Uint8Array",
  "Uint8ClampedArray",
  "Int16Array",
  "Uint16Array",
  "Int32Array",
  "Uint32Array",
  "Float16Array",
  "Float32Array",
  "Float64Array",
  "BigInt64Array",
  "BigUint64Array",
];
const BUFFERS = ["ArrayBuffer", "SharedArrayBuffer"];
/** Each returns a buffer of its own, or a part of Buffer's pool. */
const BUFFER_MAKERS = ["alloc", "allocUnsafe", "allocUnsafeSlow", "from", "concat", "copyBytesFrom"];
/** Methods that copy without calling a visible constructor. Other methods call the value's own constructor. */
const COPIES: readonly (readonly [string, readonly string[]])[] = [
  ["ArrayBuffer", ["slice", "transfer", "transferToFixedLength"]],
  ["SharedArrayBuffer", ["slice"]],
  ["TextEncoder", ["encode"]],
];
const TYPED_COPIES = ["toReversed", "toSorted", "with"];
/** Smaller buffers may be parts of Buffer's pool. */
const POOLED = 4096;

/** Puts one property back. */
type Undo = () => void;

/** Puts the stand-ins into the global objects. The returned function puts the originals back. */
export function replaceMakers(buffers: Buffers, scope: typeof globalThis = globalThis): Undo {
  const undo: Undo[] = [];
  for (const name of [...BUFFERS, ...VIEWS]) replaceConstructor(scope, name, buffers, undo);
  for (const name of BUFFER_MAKERS) replaceMethod(scope.Buffer, name, `Buffer.${name}`, buffers, undo);
  for (const [owner, names] of COPIES) {
    const prototype = Reflect.get(Object(Reflect.get(scope, owner)), "prototype");
    for (const name of names) replaceMethod(prototype, name, `${owner}.${name}`, buffers, undo);
  }
  const typed: unknown = Object.getPrototypeOf(scope.Uint8Array.prototype);
  for (const name of TYPED_COPIES) replaceMethod(typed, name, `TypedArray.${name}`, buffers, undo);
  return () => {
    for (const one of undo.reverse()) one();
  };
}

function replaceConstructor(scope: object, name: string, buffers: Buffers, undo: Undo[]): void {
  const original: unknown = Reflect.get(scope, name);
  if (!isFunction(original)) return;
  const maker = `new ${name}`;
  const proxy: AnyFunction = new Proxy(original, {
    construct(target, args, newTarget) {
      const make = () => Object(Reflect.construct(target, args, newTarget === proxy ? target : newTarget));
      // An array over a buffer is a view of memory that was counted already.
      return isAnyArrayBuffer(args[0]) ? make() : buffers.watch(make, (made) => tell(made, maker, buffers, proxy));
    },
  });
  replaceProperty(scope, name, proxy, undo);
  replaceProperty(Reflect.get(original, "prototype"), "constructor", proxy, undo);
}

function replaceMethod(owner: unknown, name: string, maker: string, buffers: Buffers, undo: Undo[]): void {
  const original: unknown = Reflect.get(Object(owner), name);
  if (!isFunction(original)) return;
  const proxy: AnyFunction = new Proxy(original, {
    apply(target, self, args) {
      const make = () => Reflect.apply(target, self, args);
      return isAnyArrayBuffer(args[0]) ? make() : buffers.watch(make, (made) => tell(made, maker, buffers, proxy));
    },
  });
  replaceProperty(owner, name, proxy, undo);
}

function replaceProperty(owner: unknown, name: string, value: unknown, undo: Undo[]): void {
  const holder = Object(owner);
  const before = Object.getOwnPropertyDescriptor(holder, name);
  if (before === undefined || before.configurable === false) return;
  Object.defineProperty(holder, name, { ...before, value });
  undo.push(() => {
    // Leaves a value in place that the user has put there meanwhile.
    if (Object.getOwnPropertyDescriptor(holder, name)?.value === value) Object.defineProperty(holder, name, before);
  });
}

function tell(made: unknown, maker: string, buffers: Buffers, above: AnyFunction): void {
  if (isAnyArrayBuffer(made)) buffers.made(made, maker, above);
  if (!ArrayBuffer.isView(made)) return;
  const { buffer, byteLength } = made;
  // A small view of only a part of its buffer lies in a pool.
  if (buffer.byteLength === byteLength || byteLength >= POOLED) buffers.made(buffer, maker, above);
}

function isFunction(value: unknown): value is AnyFunction {
  return typeof value === "function";
}
