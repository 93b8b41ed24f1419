/** Compiles source whose `import()` resolves names as if the source were in a file of the user's. */
import { constants, Script } from "node:vm";

export function compileImporting<T>(code: string, filename: string): T {
  if (!code.includes("import")) return new Script(code, { filename }).runInThisContext() as T;
  silenceOnce();
  return compile(code, filename).runInThisContext() as T;
}

function compile(code: string, filename: string): Script {
  return new Script(code, { filename, importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER });
}

let silenced = false;

/**
 * At the first such import Node prints a warning on stderr that this constant is experimental. The user has no part in
 * that. So a first import of our own, of a module that exists anyway, takes the warning.
 */
function silenceOnce(): void {
  if (silenced) return;
  silenced = true;
  const { emitWarning } = process;
  const filtered = (...args: unknown[]) => {
    if (!String(args[0]).includes("USE_MAIN_CONTEXT_DEFAULT_LOADER")) Reflect.apply(emitWarning, process, args);
  };
  process.emitWarning = filtered as typeof emitWarning;
  try {
    compile('import("node:process")', import.meta.url).runInThisContext();
  } finally {
    process.emitWarning = emitWarning;
  }
}
