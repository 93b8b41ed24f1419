/** How Node runs a script: TypeScript through the project's own tsx, or through Node itself where it can. */
import { existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { OptionError } from "../errors/index.ts";

const TYPESCRIPT = /\.([mc]?ts|tsx)$/;

/** The arguments for `node`. */
export function commandFor(script: string): string[] {
  const path = resolve(script);
  if (!existsSync(path)) throw new OptionError(`run: there is no file ${path}.`);
  if (!statSync(path).isFile()) throw new OptionError(`run: ${path} is no file. Give a script, such as main.ts.`);
  if (!TYPESCRIPT.test(path)) return [path];
  const loader = findTsx(path);
  if (loader !== null) return ["--import", loader, path];
  // Node strips types, but does not transform JSX.
  if (stripsTypes() && !path.endsWith(".tsx")) return [path];
  throw new OptionError(
    `run: ${script} is TypeScript, and Node ${process.version} does not run it. Install tsx in your project ` +
      "(npm install --save-dev tsx), or use Node 22.18 or later.",
  );
}

/** Looks beside the script first: that tsx belongs to the script's project. */
function findTsx(path: string): string | null {
  for (const from of [path, join(process.cwd(), "script.js")]) {
    try {
      return pathToFileURL(createRequire(from).resolve("tsx")).href;
    } catch {
      // tsx is not installed there.
    }
  }
  return null;
}

/** "strip" or "transform" if this Node runs TypeScript. Older versions lack the field. */
function stripsTypes(): boolean {
  return typeof Reflect.get(process.features, "typescript") === "string";
}
