/** Where logs stay, and that nobody else can read them. */
import { chmodSync, chownSync, mkdirSync, mkdtempSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { statePlace } from "../../src/session/state-root.ts";
import { requires } from "../support/requires.ts";
import { noSecondUser, SECOND_USER } from "../support/second-user.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("state-root");
const withOthers = requires("a second user", noSecondUser);
let home = "";
let usual = "";

beforeEach(() => {
  home = mkdtempSync(join(directory, "home-"));
  usual = join(home, "spillway");
  vi.stubEnv("XDG_STATE_HOME", home);
});
afterEach(() => vi.unstubAllEnvs());

test("[A15] a directory for logs that was open to others is closed", () => {
  mkdirSync(usual);
  chmodSync(usual, 0o777);
  expect(statePlace()).toEqual({ root: usual, notice: null });
  expect(statSync(usual).mode & 0o777).toBe(0o700);
});

test("[A15] a link of the user's own is followed", () => {
  const disk = join(home, "disk");
  mkdirSync(disk, { mode: 0o755 });
  symlinkSync(disk, usual);
  expect(statePlace()).toEqual({ root: usual, notice: null });
  expect(statSync(disk).mode & 0o777).toBe(0o700);
});

withOthers.test("[A15] one of another user is not used: the logs go beside it, and that is said", () => {
  mkdirSync(usual);
  chownSync(usual, SECOND_USER, SECOND_USER);
  const own = `${usual}-${process.geteuid?.()}`;
  expect(statePlace()).toEqual({ root: own, notice: expect.stringContaining(`${usual} belongs to another user`) });
  mkdirSync(own);
  chownSync(own, SECOND_USER, SECOND_USER);
  expect(statePlace).toThrow(OptionError);
});
