/**
 * Calls C through koffi, which is set up once before anything is loaded. Types say what each function takes and
 * returns. Addresses are plain numbers (declare them `uint64`): user space ends far below 2^53. A call with numbers
 * costs 60 ns, one with pointer objects a microsecond.
 */
import koffi from "koffi";

/** DuckDB parses and plans recursively: with koffi's default of 128 KiB, asynchronous calls crash on deep SQL. */
const STACK_BYTES = 8 << 20;
/**
 * koffi counts a callback from another thread as one more call, and a call past its limit ends the process (koffi
 * throws on that thread). So the limit is far above the possible number: our calls, plus a callback for every thread of
 * the kernel. Our own calls wait in line (see `callAsync`); libuv runs only four at once anyway.
 */
const KOFFI_LIMIT = 512;
const MOST_ASYNC_CALLS = 8;
/** How many stacks are kept for calls and callbacks. Any further one is mapped and unmapped each time. */
const RESIDENT_STACKS = 12;

// koffi refuses to be configured after it has loaded a library. So a second evaluation of this module in one process
// (test runners) must not configure it again.
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
   * `declare<[number, string], number>("int duckdb_query(uint64, const char*, …)")`: the types are the caller's claim;
   * nothing checks them.
   */
  declare<Arguments extends readonly unknown[], Result>(signature: string): NativeFunction<Arguments, Result>;
  /** The same for a function of one struct of `words` 64-bit members, passed by value: `{ a: 0, b: 0, … }`. */
  declareByValue<Struct, Result>(name: string, result: string, words: number): NativeFunction<[Struct], Result>;
  /** The same for a function that returns a struct with these members: `{ rows: "uint64" }`. */
  declareReturning<Arguments extends readonly unknown[], Struct>(
    name: string,
    members: Readonly<Record<string, string>>,
    parameters: readonly string[],
  ): NativeFunction<Arguments, Struct>;
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
    declareReturning: (name, members, parameters) =>
      library.func(name, koffi.struct({ ...members }), [...parameters]) as never,
    symbol: (name) => Number(library.symbol(name)),
  };
}

let underWay = 0;
const waiting: (() => void)[] = [];

/** Runs a C function on another thread, so that the event loop stays free. Calls beyond koffi's limit wait. */
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

/** Makes a JavaScript function callable from C for the life of the process. Every argument arrives as a number. */
export function exportFunction(parameters: number, body: (...values: number[]) => void): number {
  const prototype = koffi.proto("void", Array<string>(parameters).fill("uint64"));
  return Number(koffi.register(body, koffi.pointer(prototype)));
}

let pointerPrototype: ReturnType<typeof koffi.proto> | null = null;

/** A function with one pointer as its argument, known only by its address (a `release` callback). */
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

/**
 * The address of a JavaScript buffer's bytes. It never changes; it is invalid once the buffer is collected or
 * transferred.
 */
export function addressOfBuffer(buffer: ArrayBuffer): number {
  return Number(koffi.address(buffer));
}

export function lastErrno(): number {
  return koffi.errno();
}
