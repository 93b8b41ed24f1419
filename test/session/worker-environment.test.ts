import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OptionError } from "../../src/errors/index.ts";
import { type Surroundings, workerEnvironment } from "../../src/session/worker-environment.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const root = temporaryDirectory("worker-environment");
const bare: Surroundings = { platform: "linux", arch: "x64", env: {}, root: join(root, "bare") };

const SAID_NOTHING = { mallocTrimThreshold: false, allocator: "system", workerEnv: {} } as const;

function environment(said: Partial<Parameters<typeof workerEnvironment>[0]>, here: Surroundings) {
  return workerEnvironment({ ...SAID_NOTHING, ...said }, here);
}

function withLibrary(path: string, more: Partial<Surroundings> = {}): Surroundings {
  const machine = join(root, path.replaceAll("/", "_"));
  mkdirSync(join(machine, path, ".."), { recursive: true });
  writeFileSync(join(machine, path), "");
  return { ...bare, root: machine, ...more };
}

test("[K11] mallocTrimThreshold is a size in bytes, nothing by default, and workerEnv comes first", () => {
  expect(environment({}, bare)).toEqual({});
  expect(environment({ mallocTrimThreshold: false, workerEnv: { A: "b" } }, bare)).toEqual({ A: "b" });
  expect(environment({ mallocTrimThreshold: "64 KiB" }, bare)).toEqual({ MALLOC_TRIM_THRESHOLD_: "65536" });
  const workerEnv = { MALLOC_TRIM_THRESHOLD_: "1" };
  expect(environment({ mallocTrimThreshold: 0, workerEnv }, bare)).toEqual(workerEnv);
  expect(() => environment({ mallocTrimThreshold: "much" }, bare)).toThrow("mallocTrimThreshold");
});

test("[K12] jemalloc that is not installed is an error that names the packages and the places", () => {
  const refused = () => environment({ allocator: "jemalloc" }, bare);
  expect(refused).toThrow(OptionError);
  expect(refused).toThrow('session: allocator is "jemalloc", but jemalloc is not installed.');
  expect(refused).toThrow("apt-get install libjemalloc2 (Debian, Ubuntu)");
  expect(refused).toThrow("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2");
  expect(refused).toThrow("/usr/lib64/libjemalloc.so.2");
  const mac: Surroundings = { ...bare, platform: "darwin", arch: "arm64" };
  expect(() => environment({ allocator: "jemalloc" }, mac)).toThrow("brew install jemalloc");
});

test("[K12] it is found in the usual places and preloaded beside what was preloaded before", () => {
  const debian = withLibrary("usr/lib/aarch64-linux-gnu/libjemalloc.so.2", { arch: "arm64" });
  const library = join(debian.root, "usr/lib/aarch64-linux-gnu/libjemalloc.so.2");
  expect(environment({ allocator: "jemalloc" }, debian)).toEqual({ LD_PRELOAD: library });
  const before = { ...debian, env: { LD_PRELOAD: "/a.so" } };
  expect(environment({ allocator: "jemalloc" }, before)).toEqual({ LD_PRELOAD: `${library}:/a.so` });
  const workerEnv = { LD_PRELOAD: "/b.so" };
  expect(environment({ allocator: "jemalloc", workerEnv }, before)).toEqual({ LD_PRELOAD: `${library}:/b.so` });
  const fedora = withLibrary("usr/lib64/libjemalloc.so.2");
  expect(environment({ allocator: "jemalloc" }, fedora).LD_PRELOAD).toContain("/usr/lib64/libjemalloc.so.2");
  const own = withLibrary("opt/own/libjemalloc.so.2", { env: { LD_LIBRARY_PATH: "relative:/opt/own" } });
  expect(environment({ allocator: "jemalloc" }, own).LD_PRELOAD).toContain("/opt/own/libjemalloc.so.2");
  const brew = withLibrary("opt/homebrew/lib/libjemalloc.2.dylib", { platform: "darwin", arch: "arm64" });
  expect(Object.keys(environment({ allocator: "jemalloc" }, brew))).toEqual(["DYLD_INSERT_LIBRARIES"]);
});
