/** Sessions that cannot start: a typed error at once, and nothing left of them. */
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OptionError, StoreError, session } from "spillway";
import { afterEach, describe, expect, test, vi } from "vitest";
import { withoutZstd } from "../support/requires.ts";
import { leftovers, processes, sessionNames, testSessions } from "../support/sessions.ts";

const sessions = testSessions("start-failures");
afterEach(() => vi.unstubAllEnvs());

async function startIn(localDirectory: string): Promise<unknown> {
  return sessions.open({ localDirectory }).range(3).takeAll();
}

describe("[A15] a local directory that cannot be used", () => {
  test("under a file system that takes no directories is an OptionError at once, and no process stays", async () => {
    const begun = performance.now();
    const failure = startIn("/proc/nope");
    await expect(failure).rejects.toBeInstanceOf(OptionError);
    await expect(failure).rejects.toThrow(/localDirectory \/proc\/nope cannot be used: ENOENT/);
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(processes(sessionNames(sessions.stateDirectory))).toEqual([]);
  });

  test("that is a file is an OptionError that names it", async () => {
    const file = join(sessions.directory, "a-file");
    writeFileSync(file, "");
    await expect(startIn(file)).rejects.toBeInstanceOf(OptionError);
    await expect(startIn(file)).rejects.toThrow(`localDirectory ${file} cannot be used: ENOTDIR`);
  });

  test("that takes no files is an OptionError that names it", async () => {
    await expect(startIn("/sys")).rejects.toThrow(/localDirectory \/sys cannot be used: E(PERM|ROFS|ACCES)/);
  });

  test("where the logs cannot be kept is an OptionError too", async () => {
    vi.stubEnv("XDG_STATE_HOME", "/proc/nope");
    const failure = startIn(sessions.localDirectory);
    await expect(failure).rejects.toBeInstanceOf(OptionError);
    await expect(failure).rejects.toThrow(
      /log directory \/proc\/nope\/spillway\/.* cannot be used: ENOENT.*XDG_STATE_HOME/,
    );
    expect(
      readdirSync(sessions.localDirectory).flatMap((user) => readdirSync(join(sessions.localDirectory, user))),
    ).toEqual([]);
  });
});

withoutZstd.test("zstd without a Node that has it is refused by session() itself", () => {
  const options = { localDirectory: sessions.localDirectory, spillCompression: "zstd" } as const;
  expect(() => session(options)).toThrow(OptionError);
  expect(() => session(options)).toThrow(/spillCompression "zstd" needs Node 22\.15 or later/);
});

test("[A15] a store that fits nowhere leaves no file and no shared memory", async () => {
  const s = sessions.open({ objectStoreMemory: 2 ** 50, workers: 1 });
  await expect(s.range(3).takeAll()).rejects.toThrow(/The store needs/);
  expect(await leftovers(sessions.localDirectory, sessionNames(sessions.stateDirectory))).toEqual([]);
});

test("[A15] a store that cannot be made is a StoreError", async () => {
  const large = sessions.open({ objectStoreMemory: "900 TiB" });
  const error = await large
    .range(1)
    .takeAll()
    .catch((thrown: Error) => thrown);
  expect(error).toBeInstanceOf(StoreError);
  expect(String(error)).toMatch(/^StoreError: The store needs 900 TiB: .* Choose a smaller objectStoreMemory/);
  expect(String(error)).not.toContain("    at ");
});

test("[A15] what cannot be is said before anything starts", () => {
  expect(() => sessions.open({ memoryLimit: "10 MiB" })).toThrow(/memoryLimit of 10.0 MiB is too small.*64.0 MiB/);
  expect(() => sessions.open({ eager: "yes" } as never)).toThrow('session: eager must be true or false, not "yes".');
  expect(() => sessions.open({ wokers: 2 } as never)).toThrow('no option "wokers". Did you mean "workers"?');
  expect(() => sessions.open({ worker: 2 } as never)).toThrow('Did you mean "workers"?');
});
