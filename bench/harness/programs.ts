/**
 * Compiles programs/ to JavaScript, so that `node program.js` is measured without a loader in the process. Types are
 * not checked here: `npm run check` does that.
 */
import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { places } from "../places.ts";

export async function compilePrograms(): Promise<void> {
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  await promisify(execFile)(process.execPath, [compiler, "-p", places.programsConfig]);
}
