/**
 * Memory that was refused to a function: for a buffer, for WebAssembly, for the heap of a thread. That is told by the
 * text: V8 gives such errors no code. A task that asks for less may get it, so it is no fault of the row on which it
 * happened.
 */
const REFUSED = [
  /Array buffer allocation failed/,
  /ERR_MEMORY_ALLOCATION_FAILED|Failed to allocate memory/,
  /WebAssembly\.Memory\(\): could not allocate memory/,
  /WebAssembly\.Memory\.grow\(\): Unable to grow instance memory/,
  /Worker terminated due to reaching memory limit/,
];

export function isMemoryRefused(name: string, message: string): boolean {
  return /^(RangeError|Error)$/.test(name) && REFUSED.some((words) => words.test(message));
}
