/**
 * Tests that need something of the machine: a mount, a control group, a second user. Where it is missing they are skipped, and the
 * reason is beside their names; with SPILLWAY_TEST_ALL=1 (the continuous integration) a missing thing is a failure instead.
 */
import { describe, test } from "vitest";

/** Why the thing is not to be had; null: it is there. */
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
  if (process.env.SPILLWAY_TEST_ALL !== "1") {
    return {
      test: (name) => test.skip(`${name} (${reason})`, () => {}),
      describe: (name: string) => describe.skip(`${name} (${reason})`, () => test.skip(reason, () => {})),
    };
  }
  const fail = () => {
    throw new Error(`This test ${reason}. With SPILLWAY_TEST_ALL=1 nothing may be missing.`);
  };
  return {
    test: (name) => test(name, fail),
    describe: (name: string) => describe(name, () => test(reason, fail)),
  };
}
