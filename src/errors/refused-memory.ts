/**
 * Recognises by their texts that memory was refused or used up: V8, the C++ library, the system and DuckDB give no
 * codes. Every such text stands here once. Who is asked decides which of them count, because other errors may quote
 * such words from a user's data.
 */

/** V8 at its heap limit; it ends the process. */
const HEAP = ["heap out of memory"];
/** A buffer: an error in JavaScript, or, inside V8, the end of the process. */
const BUFFER = ["Array buffer allocation failed"];
/** V8 was refused memory below its heap limit; it ends the process. */
const V8 = ["process out of memory", "ArrayBuffer::New Allocation failed", "semi space failed"];
const CPP = ["bad_alloc", "bad allocation"];
/** The system, or a conversion to Arrow. */
const ALLOCATORS = ["allocation failure", "failed to (?:re-)?allocate", "cannot allocate memory"];
/** "failed to pin block of size 256.0 KiB (47.9 MiB/48.0 MiB used)" */
const KERNEL_BLOCK = [
  String.raw`(?:could not allocate block|failed to pin block|failed to (?:re-)?allocate \w+) of size [\d.]+ \w+\s*\([\d.]+ \w+\/[\d.]+ \w+ used\)`,
];
/** Node, WebAssembly, and the heap of a thread that a function has started. */
const FUNCTIONS = [
  "ERR_MEMORY_ALLOCATION_FAILED",
  "Failed to allocate memory",
  String.raw`WebAssembly\.Memory\(\): could not allocate memory`,
  String.raw`WebAssembly\.Memory\.grow\(\): Unable to grow instance memory`,
  "Worker terminated due to reaching memory limit",
];

const IN_FUNCTION = anyOf(BUFFER, FUNCTIONS);
const IN_KERNEL = anyOf(CPP, ALLOCATORS);
const FOR_KERNEL_BLOCK = anyOf(KERNEL_BLOCK);
const BELOW_HEAP_LIMIT = anyOf(BUFFER, V8, CPP);
const AT_END = anyOf(HEAP, BUFFER, V8, CPP);
/** Kinds of kernel errors that have been seen to carry a refusal. */
const KERNEL_KINDS = new Set(["TransactionContext", "Fatal", "Internal", "Invalid", "Unknown", "IO"]);

function anyOf(...texts: readonly (readonly string[])[]): RegExp {
  return new RegExp(texts.flat().join("|"), "i");
}

/**
 * Whether memory was refused to a function, by the error that it threw. A task with less at once may succeed, so the
 * row is not at fault.
 */
export function isMemoryRefused(name: string, message: string): boolean {
  return /^(RangeError|Error)$/.test(name) && IN_FUNCTION.test(message);
}

/** Whether memory was refused to the kernel, by the kind and text of its error. */
export function isKernelRefused(kind: string, message: string): boolean {
  return FOR_KERNEL_BLOCK.test(message) || (KERNEL_KINDS.has(kind) && IN_KERNEL.test(message));
}

/**
 * Whether a process that ended itself was out of memory, by the end of its log: V8 at its heap limit, or V8 or native
 * code (the kernel's C++) that was refused memory. A smaller task may succeed.
 */
export function endedForMemory(log: string): boolean {
  return AT_END.test(log);
}

/** Whether such a process was refused memory below its heap limit: by RLIMIT_DATA, or by a system that has no more. */
export function wasRefusedBelowHeap(log: string): boolean {
  return BELOW_HEAP_LIMIT.test(log);
}
