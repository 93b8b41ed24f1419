/**
 * Module loaders that the program was started with (`node --import tsx`). A worker that repeats the program's imports
 * may need them too, to load TypeScript; it registers them when the first function that needs one arrives, because
 * most functions need none and a TypeScript loader costs 100 ms.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type { ModuleRequest } from "./payload.ts";

/** URLs or package names of the program's loaders, where one of these requests may need them. */
export function programLoaders(requests: readonly ModuleRequest[]): readonly string[] {
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
    // Only its ESM conditions resolve, or a path alias that the loader itself understands.
    return true;
  }
}

/** The `--import` and `--loader` arguments of this process. Preloads by `--require` change the program, not modules. */
function startedWith(): string[] {
  const words = [...process.execArgv, ...(process.env.NODE_OPTIONS?.split(/\s+/) ?? [])];
  const found: string[] = [];
  for (const [i, word] of words.entries()) {
    const match = /^--(?:import|loader|experimental-loader)(?:=(.*))?$/.exec(word);
    const value = match === null ? undefined : (match[1] ?? words[i + 1]);
    if (value !== undefined) found.push(absolute(value.replace(/^["']|["']$/g, "")));
  }
  return [...new Set(found)];
}

/** A worker may run elsewhere: names are resolved where they were given. */
function absolute(loader: string): string {
  if (/^(file|data|node):/.test(loader)) return loader;
  const here = pathToFileURL(`${process.cwd()}/`);
  if (/^[./]/.test(loader)) return new URL(loader, here).href;
  try {
    return import.meta.resolve.length > 1 ? loader : pathToFileURL(createRequire(here).resolve(loader)).href;
  } catch {
    return loader;
  }
}

const registered = new Set<string>();

/** In the worker: each loader once, and none that this process was started with itself. */
export async function registerLoaders(loaders: readonly string[]): Promise<void> {
  if (loaders.length === 0) return;
  const own = new Set(startedWith());
  for (const loader of loaders) {
    if (registered.has(loader) || own.has(loader)) continue;
    registered.add(loader);
    await import(loader);
  }
}
