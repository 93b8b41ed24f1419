/**
 * Tests with requirements. If the machine lacks one (a mount, a control group, a second user), the test is skipped,
 * with the reason next to its name; with SPILLWAY_TEST_ALL=1, as in continuous integration, it fails instead. If the
 * Node version under test lacks something, the test is always skipped.
 */
import { describe, test } from "vitest";

/** Why the thing is missing; null: it exists. */
export type Missing = string | null;

export interface Suite {
  (name: string, tests: () => void): void;
  (name: string, options: { readonly timeout: number }, tests: () => void): void;
}

export interface Requiring {
  readonly test: (name: string, run: () => Promise<unknown> | unknown) => void;
  readonly describe: Suite;
}

/** `what`: as in "a second user". */
export function requires(what: string, missing: Missing): Requiring {
  if (missing === null) return { test, describe };
  const reason = `needs ${what}: ${missing}`;
  if (process.env.SPILLWAY_TEST_ALL !== "1") return skipped(reason);
  const fail = () => {
    throw new Error(`This test ${reason}. With SPILLWAY_TEST_ALL=1 nothing may be missing.`);
  };
  return {
    test: (name) => test(name, fail),
    describe: (name: string) => describe(name, () => test(reason, fail)),
  };
}

export const onLinux = requires("Linux", process.platform === "linux" ? null : `this is ${process.platform}`);

const hasZstd = "zstdCompress" in process.getBuiltinModule("node:zlib");

/** Node has zstd since 22.15, and 20 never will: running both kinds of test takes two Nodes. */
export const withZstd: Requiring = hasZstd ? { test, describe } : skipped(`Node ${process.version} has no zstd`);
export const withoutZstd: Requiring = hasZstd ? skipped(`Node ${process.version} has zstd`) : { test, describe };

function skipped(reason: string): Requiring {
  return {
    test: (name) => test.skip(`${name} (${reason})`, () => {}),
    describe: (name: string) => describe.skip(`${name} (${reason})`, () => test.skip(reason, () => {})),
  };
}
