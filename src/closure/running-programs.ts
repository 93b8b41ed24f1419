/**
 * What this process knows of running code: shipped programs by the name that their frames have, and source maps of
 * modules.
 */
import { findSourceMap } from "node:module";
import type { NamedProgram } from "./stack.ts";

/** Weak references: code that may call a program's functions keeps the program. */
const programs = new Map<string, WeakRef<NamedProgram>>();
/** With this many names, the names of collected programs are removed. */
let most = 64;

export function rememberProgram(program: NamedProgram): void {
  programs.set(program.filename, new WeakRef(program));
  if (programs.size <= most) return;
  for (const [name, known] of programs) if (known.deref() === undefined) programs.delete(name);
  most = Math.max(64, programs.size * 2);
}

export function programNamed(filename: string): NamedProgram | null {
  return programs.get(filename)?.deref() ?? null;
}

/** The source map of a module that a loader compiled, as JSON; null when Node knows of none. */
export function sourceMapOf(url: string): string | null {
  const map = findSourceMap(url);
  return map === undefined ? null : JSON.stringify(map.payload);
}
