/**
 * Module loaders that the program was started with (`node --import tsx`). A worker that repeats the program's imports
 * may need them, too, to load TypeScript. It registers them when the first function that needs one arrives, because
 * most functions need none and a TypeScript loader costs 100 ms.
 */
import { createRequire, register } from "node:module";
import { pathToFileURL } from "node:url";
import type { LoaderRequest, ModuleRequest } from "./payload.ts";

/** The program's loaders, if one of these requests may need them. */
export function programLoaders(requests: readonly ModuleRequest[]): readonly LoaderRequest[] {
  return requests.some(mayNeedLoader) ? startedWith() : [];
}

function mayNeedLoader({ base, specifier }: ModuleRequest): boolean {
  if (specifier.startsWith("node:") || !base.startsWith("file:")) return false;
  if (/\.[cm]?js$|\.json$/.test(specifier) && specifier.includes("/node_modules/")) return false;
  if (/^[./#]|^file:/.test(specifier)) return true;
  try {
    const file = createRequire(base).resolve(specifier);
    return !file.includes("/node_modules/") || /\.[cm]?tsx?$/.test(file);
  } catch {
    // Only the package's ESM conditions resolve it, or a path alias that the loader understands.
    return true;
  }
}

const LOADER_ARGUMENT = /^(--import|--require|-r|--loader|--experimental-loader)(?:=(.*))?$/;
/** tsx's own preload passes signals on to the `tsx` command, but a worker has another parent. */
const NO_LOADER = /\/tsx\/dist\/preflight\.cjs$/;

function startedWith(): LoaderRequest[] {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS?.split(/\s+/) ?? [])];
  const found = new Map<string, LoaderRequest>();
  for (const [i, word] of words.entries()) {
    const [, option, given = words[i + 1]] = LOADER_ARGUMENT.exec(word) ?? [];
    if (option === undefined || given === undefined || NO_LOADER.test(given)) continue;
    const url = absolute(given.replace(/^["']|["']$/g, ""));
    found.set(url, { url, how: option.endsWith("loader") ? "register" : "import" });
  }
  return [...found.values()];
}

/** Resolved in the program, because a worker may run in another directory. */
function absolute(loader: string): string {
  if (/^(file|data|node):/.test(loader)) return loader;
  const here = pathToFileURL(`${process.cwd()}/[eval]`);
  if (/^\.{0,2}\//.test(loader)) return new URL(loader, here).href;
  try {
    return pathToFileURL(createRequire(here).resolve(loader)).href;
  } catch {
    // A package that can only be imported: the worker finds it where this package does.
    return loader;
  }
}

const registered = new Set<string>();

/** Called in the worker. Registers each loader once, except those that this process was started with. */
export async function registerLoaders(loaders: readonly LoaderRequest[]): Promise<void> {
  if (loaders.length === 0) return;
  const own = new Set(startedWith().map(({ url }) => url));
  for (const { url, how } of loaders) {
    if (registered.has(url) || own.has(url)) continue;
    registered.add(url);
    if (how === "register") register(url, import.meta.url);
    else await import(url);
  }
}
