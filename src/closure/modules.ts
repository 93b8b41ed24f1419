/**
 * Loads in a worker the modules that a function imports, as the user's file does: the same names, resolved from the
 * same place, by the same kind of loading, wrapped in the same way as by the user's compiler.
 */
import { createRequire } from "node:module";
import { SpillwayError } from "../errors/index.ts";
import { messageOf } from "../realm/index.ts";
import { compileImporting } from "./importing-script.ts";
import type { ModuleRequest } from "./payload.ts";
import { pathOf } from "./source-map.ts";

type Importer = (specifier: string, options?: object) => Promise<unknown>;
const importers = new Map<string, Importer>();

export async function loadModules(requests: readonly ModuleRequest[]): Promise<unknown[]> {
  const loaded: unknown[] = [];
  // One after the other, as import declarations are evaluated.
  for (const request of requests) loaded.push(interop(await load(request), request.interop));
  return loaded;
}

async function load(request: ModuleRequest): Promise<unknown> {
  const { base, specifier, form, attributes } = request;
  try {
    if (form === "require") return requireFrom(base)(specifier);
    return await importFrom(base)(specifier, attributes === null ? undefined : { with: attributes });
  } catch (error) {
    const reason = messageOf(error);
    const from = base === "" ? "" : ` from ${pathOf(base)}`;
    throw new SpillwayError(`A worker cannot load "${specifier}"${from}, which a function imports: ${reason}`, {
      cause: error,
    });
  }
}

export function requireFrom(base: string): NodeJS.Require {
  return createRequire(base === "" ? import.meta.url : base);
}

/**
 * `import` as it works in that file: a script with the file's name, because a module cannot resolve names for another.
 */
function importFrom(base: string): Importer {
  const known = importers.get(base);
  if (known !== undefined) return known;
  const made = compileImporting<Importer>("(specifier, options) => import(specifier, options)", base);
  importers.set(base, made);
  return made;
}

/** What the compilers' `__importDefault`, `__importStar` and `__toESM` make of a required module. */
function interop(module: unknown, kind: ModuleRequest["interop"]): unknown {
  if (kind === "none") return module;
  const isEsm = Reflect.get(Object(module), "__esModule") === true;
  if (isEsm && kind !== "node") return module;
  if (kind === "default") return { default: module };
  const star: Record<string, unknown> = {};
  for (const name of Object.getOwnPropertyNames(Object(module))) {
    if (name === "default") continue;
    Object.defineProperty(star, name, { enumerable: true, get: () => Reflect.get(Object(module), name) });
  }
  Object.defineProperty(star, "default", { enumerable: true, configurable: true, value: module });
  return star;
}
