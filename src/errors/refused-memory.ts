/**
 * Recognises memory that was refused to a function: for a buffer, for WebAssembly, for the heap of a thread. V8 gives
 * such errors no code, so the text decides. A task with less at once may succeed, so the row is not at fault.
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
