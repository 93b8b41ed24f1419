/**
 * The global objects that the program's values come from: ours, and that of Node's modules. They differ if a test
 * runner (Jest, vitest's `vmThreads`) runs the program in a `vm` context. Such a runner also loads the program's
 * modules itself.
 */
import { runInThisContext } from "node:vm";

/** The global object of the main context, where Node's own modules and the inspector run. */
export function mainGlobal(): typeof globalThis {
  return runInThisContext("globalThis");
}

export function isOwnContext(): boolean {
  return mainGlobal() !== globalThis;
}

export function globalObjects(): readonly (typeof globalThis)[] {
  return isOwnContext() ? [globalThis, mainGlobal()] : [globalThis];
}
