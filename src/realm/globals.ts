/**
 * The global objects that values of this program come from: our own, and that of Node's modules, which is another one
 * where a test runner (Jest, vitest's `vmThreads`) runs the program in a `vm` context. Such a runner also loads the
 * program's modules itself.
 */
import { runInThisContext } from "node:vm";

/** Of the context that Node's own modules run in, and the inspector looks at. */
export function mainGlobal(): typeof globalThis {
  return runInThisContext("globalThis");
}

export function isOwnContext(): boolean {
  return mainGlobal() !== globalThis;
}

export function globalObjects(): readonly (typeof globalThis)[] {
  return isOwnContext() ? [globalThis, mainGlobal()] : [globalThis];
}
