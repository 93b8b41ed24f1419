/**
 * Functions of the C library that Node does not offer. Declared when first used, so that importing this module costs
 * nothing.
 */
import { getSystemErrorName } from "node:util";
import { StoreError } from "../errors/index.ts";
import { callAsync, type Library, lastErrno, loadLibrary, type NativeFunction } from "./foreign.ts";

const LIBRARIES: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: "libc.so.6",
  darwin: "/usr/lib/libSystem.B.dylib",
};

let loaded: Library | null = null;

export function libraryC(): Library {
  if (loaded !== null) return loaded;
  const path = LIBRARIES[process.platform];
  if (path === undefined) {
    throw new StoreError(
      `Spillway runs on Linux (glibc) and macOS; this is ${process.platform}. On Windows use WSL 2 or a Linux container.`,
    );
  }
  try {
    loaded = loadLibrary(path);
  } catch (cause) {
    throw new StoreError(
      `The C library ${path} cannot be loaded: Spillway needs glibc (Alpine and other musl systems do not have it).`,
      { cause },
    );
  }
  return loaded;
}

/**
 * Declares one function when it is first called. `onThread` calls it off the event loop; its errno is then not
 * available.
 */
export function fromC<Arguments extends readonly unknown[], Result>(signature: string) {
  let declared: NativeFunction<Arguments, Result> | null = null;
  const declare = () => {
    declared ??= libraryC().declare<Arguments, Result>(signature);
    return declared;
  };
  const call = (...values: Arguments): Result => declare()(...values);
  return Object.assign(call, { onThread: (...values: Arguments) => callAsync(declare(), ...values) });
}

export const isLinux = process.platform === "linux";

/** `ENOSPC` for 28. Errors name the code, because users search for it. */
export function errnoName(code: number = lastErrno()): string {
  return code === 0 ? "no error code" : getSystemErrorName(-code);
}
