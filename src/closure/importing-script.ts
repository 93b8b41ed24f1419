/** Compiles source whose `import()` is resolved from a file of the user's, in which it stands for the purpose. */
import { constants, Script } from "node:vm";

export function compileImporting<T>(code: string, filename: string): T {
  const { emitWarning } = process;
  // Node calls this constant experimental on stderr; the user, whose function it is, has no part in that.
  const quiet = (...args: unknown[]) => {
    if (!String(args[0]).includes("USE_MAIN_CONTEXT_DEFAULT_LOADER")) Reflect.apply(emitWarning, process, args);
  };
  process.emitWarning = quiet as typeof emitWarning;
  try {
    const script = new Script(code, { filename, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
    return script.runInThisContext() as T;
  } finally {
    process.emitWarning = emitWarning;
  }
}
