/**
 * Calling C: koffi, set up once before anything is loaded, behind types that say what each function takes and gives.
 * Addresses are plain numbers (declare them `uint64`): user space ends far below 2^53, and a call with number arguments
 * costs 60 ns where one with pointer objects costs a microsecond.
 */
import koffi from "koffi";

/** DuckDB parses and plans recursively: the 128 KiB that koffi gives asynchronous calls crash on deep SQL. */
const STACK_BYTES = 8 << 20;
/**
 * koffi counts a callback that comes from another thread as one more call, and past its limit takes the process down
 * (it throws on that thread). So its limit is far above what there can be, calls of ours and a callback for every
 * thread of the kernel, and ours wait in line (see `callAsync`): libuv runs four at once anyway.
 */
const KOFFI_LIMIT = 512;
const MOST_ASYNC_CALLS = 8;
/** Stacks kept for calls and callbacks; each more is mapped and unmapped every time. */
const RESIDENT_STACKS = 12;

// A second evaluation of this module in one process (test runners) must not configure again: koffi refuses after a
// load.
if (koffi.config().async_stack_size !== STACK_BYTES) {
  koffi.config({
    sync_stack_size: STACK_BYTES,
    async_stack_size: STACK_BYTES,
    max_async_calls: KOFFI_LIMIT,
    resident_async_pools: RESIDENT_STACKS,
  });
}

export type NativeFunction<Arguments extends readonly unknown[], Result> = ((...values: Arguments) => Result) & {
  readonly async: (...values: [...Arguments, (error: Error | null, result: Result) => void]) => void;
};

export interface Library {
  /**
   * `declare<[number, string], number>("int duckdb_query(uint64, const char*, …)")`: the types are the caller's word.
   */
  declare<Arguments extends readonly unknown[], Result>(signature: string): NativeFunction<Arguments, Result>;
  /** The same for a function of one struct of `words` 64-bit members, passed by value: `{ a: 0, b: 0, … }`. */
  declareByValue<Struct, Result>(name: string, result: string, words: number): NativeFunction<[Struct], Result>;
  /** The address of an exported symbol. */
  symbol(name: string): number;
}

export function loadLibrary(path: string): Library {
  const library = koffi.load(path);
  return {
    declare: (signature) => library.func(signature) as never,
    declareByValue: (name, result, words) => {
      const members = Array.from({ length: words }, (_, at) => [String.fromCharCode(97 + at), "uint64"]);
      return library.func(name, result, [koffi.struct(Object.fromEntries(members))]) as never;
    },
    symbol: (name) => Number(library.symbol(name)),
  };
}

let underWay = 0;
const waiting: (() => void)[] = [];

/** Runs a C function on another thread; the event loop stays free. Calls beyond what koffi takes wait for a place. */
export async function callAsync<Arguments extends readonly unknown[], Result>(
  called: NativeFunction<Arguments, Result>,
  ...values: Arguments
): Promise<Result> {
  if (underWay >= MOST_ASYNC_CALLS) await new Promise<void>((go) => waiting.push(go));
  underWay += 1;
  try {
    return await new Promise<Result>((resolve, reject) => {
      called.async(...values, (error, result) => (error === null ? resolve(result) : reject(error)));
    });
  } finally {
    underWay -= 1;
    waiting.shift()?.();
  }
}

/** Makes a JavaScript function callable from C for the life of the process; every argument arrives as a number. */
export function exportFunction(parameters: number, body: (...values: number[]) => void): number {
  const prototype = koffi.proto("void", Array<string>(parameters).fill("uint64"));
  return Number(koffi.register(body, koffi.pointer(prototype)));
}

let pointerPrototype: ReturnType<typeof koffi.proto> | null = null;

/** A function of one pointer, known only by its address (a `release` callback). */
export function functionAt(address: number): (argument: number) => void {
  pointerPrototype ??= koffi.proto("void", ["uint64"]);
  return koffi.decode(address, pointerPrototype) as (argument: number) => void;
}

/** The C string at an address. */
export function textAt(address: number): string {
  return address === 0 ? "" : koffi.decode.string(address);
}

export function viewAt(address: number, length: number): ArrayBuffer {
  return koffi.view(address, length);
}

/** Where a JavaScript buffer's bytes lie. They never move; they go when the buffer is collected or transferred. */
export function addressOfBuffer(buffer: ArrayBuffer): number {
  return Number(koffi.address(buffer));
}

export function lastErrno(): number {
  return koffi.errno();
}
