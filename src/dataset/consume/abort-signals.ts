/**
 * The callbacks of each abort signal. A signal has one listener of ours, however many calls share it, and none after
 * the last call has ended: a signal may live as long as a server, and Node warns of the eleventh listener.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back once, when the signal aborts. The returned function removes the callback. */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  let callbacks = waiting.get(signal);
  if (callbacks === undefined) {
    callbacks = new Set();
    waiting.set(signal, callbacks);
  }
  if (callbacks.size === 0) signal.addEventListener("abort", aborted, { once: true });
  // A new function each time, because the same callback may be given twice.
  const own = () => callback();
  callbacks.add(own);
  const all = callbacks;
  return () => {
    if (all.delete(own) && all.size === 0) signal.removeEventListener("abort", aborted);
  };
}

function aborted(this: AbortSignal): void {
  const callbacks = waiting.get(this);
  waiting.delete(this);
  for (const callback of callbacks ?? []) callback();
}
