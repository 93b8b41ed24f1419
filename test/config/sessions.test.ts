/** Settings as real sessions and the command line find them. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OptionError, type Session, type SessionOptions, session } from "spillway";
import { afterEach, describe, expect, test, vi } from "vitest";
import { PAGE } from "../../src/store/index.ts";
import { testSessions } from "../support/sessions.ts";
import { until } from "../support/spilling-sessions.ts";

const root = join(import.meta.dirname, "../..");
const sessions = testSessions("config-sessions");
afterEach(() => vi.unstubAllEnvs());

function yaml(name: string, text: string): string {
  const path = join(sessions.directory, name);
  writeFileSync(path, text);
  return path;
}

describe("a session", () => {
  test("[K8] has the thresholds of file and variables", async () => {
    // Blocks of two pages: nine and a half of them are the target.
    const limit = 2 ** 30;
    const file = yaml("ladder.yaml", "worker:\n  memory:\n    spill: false\n    pause: false\n    terminate: false\n");
    const open = () => sessions.open({ memoryLimit: limit, workers: 1, objectStoreMemory: "4 MiB" });
    const kept = (s: Session) =>
      s
        .range(12, { overrideNumBlocks: 12 })
        .map((row) => ({ id: row.id, text: "x".repeat(6000) }))
        .materialize();
    const pages = async (s: Session) =>
      (await s.resources()).workers.reduce((sum, { managed }) => sum + managed, 0) / PAGE;
    vi.stubEnv("SPILLWAY_CONFIG", file);
    vi.stubEnv("SPILLWAY_WORKER__MEMORY__TARGET", String((9.5 * 2 * PAGE) / limit));
    const bounded = open();
    const some = await kept(bounded);
    await until(async () => (await pages(bounded)) === 18);
    some.dispose();
    vi.stubEnv("SPILLWAY_WORKER__MEMORY__TARGET", "false");
    const free = open();
    const all = await kept(free);
    expect(await pages(free)).toBe(24);
    all.dispose();
  });

  test("[K8] is not made from a broken file or a wrong variable, and a good one is made afterwards", async () => {
    const path = yaml("broken.yaml", "workers: 1\nworker: {memory: [\n");
    vi.stubEnv("SPILLWAY_CONFIG", path);
    expect(() => session()).toThrow(OptionError);
    expect(() => session()).toThrow(`${path}:`);
    vi.stubEnv("SPILLWAY_CONFIG", yaml("mended.yaml", "workers: 1\n"));
    vi.stubEnv("SPILLWAY_WORKRES", "2");
    expect(() => session()).toThrow("Did you mean SPILLWAY_WORKERS?");
    vi.stubEnv("SPILLWAY_WORKRES", undefined);
    const s = session({ localDirectory: sessions.localDirectory, progress: false });
    expect((await s.resources()).total.cpu).toBe(1);
    await s.close();
  });
});

describe("a worker", () => {
  const heapLimits = async (memoryLimit: NonNullable<SessionOptions["memoryLimit"]>) => {
    const s = sessions.open({ workers: 1, memoryLimit });
    const [row] = await s
      .range(1)
      .map(() => ({ words: process.execArgv.filter((word) => word.includes("old-space")) }))
      .takeAll();
    await s.close();
    return row?.words;
  };

  test("[K1] has three quarters of its limit for the heap, and V8's own limit where there is none", async () => {
    expect(await heapLimits("512 MiB")).toEqual(["--max-old-space-size=384"]);
    expect(await heapLimits(0)).toEqual([]);
    expect(await heapLimits(false)).toEqual([]);
  });

  test("[K1] is told with the first job that its limit was lowered to the machine", () => {
    const job = "await s.range(1).takeAll(); await s.close();";
    const { stderr } = program(`const s = session({ workers: 1, memoryLimit: "100 TiB" }); ${job}`, {});
    expect(stderr).toMatch(
      /^spillway: memoryLimit of 100 TiB is more than this machine or its container has: lowered to [0-9.]+ [MGT]iB\./m,
    );
  });
});

/** A program in a process of its own, because the default session is one a process. */
function program(source: string, variables: Readonly<Record<string, string>>): { stdout: string; stderr: string } {
  const imports = 'import { configure, range, session } from "spillway";';
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", `${imports}\n${source}`], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, TMPDIR: sessions.localDirectory, ...variables },
  });
  return { stdout, stderr };
}

/** What a task can never have is told with what the session has: a core for each of its workers. */
const WORKERS = `
try {
  await range(1).map((row) => row, { numCpus: 99 }).takeAll();
} catch (error) {
  console.log(/the session has ([0-9]+) in total/.exec(error.message)?.[1] ?? error.message);
}
`;

describe("the default session", () => {
  test("[K8] goes by file and variables; configure() goes before them", () => {
    const file = yaml("default.yaml", "workers: 3\nprogress: false\n");
    expect(program(WORKERS, { SPILLWAY_CONFIG: file }).stdout).toBe("3\n");
    expect(program(WORKERS, { SPILLWAY_CONFIG: file, SPILLWAY_WORKERS: "2" }).stdout).toBe("2\n");
    const configured = `configure({ workers: 1 });${WORKERS}`;
    expect(program(configured, { SPILLWAY_CONFIG: file, SPILLWAY_WORKERS: "2" }).stdout).toBe("1\n");
  });

  test("[K8] reads nothing before it is used", () => {
    const { stdout } = program(
      'console.log("imported"); try { range(3); } catch (error) { console.log(error.name, error.message.split(".")[0]); }',
      { SPILLWAY_WORKERS: "some" },
    );
    expect(stdout).toBe(
      'imported\nOptionError SPILLWAY_WORKERS: workers must be a whole number, at least 1, not "some"\n',
    );
  });

  test("[K8] can be configured where the file alone would not do", () => {
    const file = yaml("too-many.yaml", "workers: 1000\nobjectStoreMemory: 16 MiB\nprogress: false\n");
    const { stdout, stderr } = program(`configure({ workers: 1 });${WORKERS}`, { SPILLWAY_CONFIG: file });
    expect(stdout).toBe("1\n");
    expect(stderr).not.toContain("Error");
  });
});

describe("the command line", () => {
  const cli = join(root, "dist/cli/main.js");
  const run = (words: readonly string[], variables: Readonly<Record<string, string>> = {}) =>
    execFileSync(process.execPath, [cli, ...words], { encoding: "utf8", env: { ...process.env, ...variables } });

  test("[K8] config prints every value in force and where it came from", () => {
    const home = join(sessions.directory, "config-home");
    mkdirSync(join(home, "spillway"), { recursive: true });
    const file = join(home, "spillway", "spillway.yaml");
    writeFileSync(file, "# mine\nmaxRetries: 7\nworker:\n  memory:\n    pause: false\n");
    const variables = { SPILLWAY_CONFIG: "", XDG_CONFIG_HOME: home, SPILLWAY_OBJECT_STORE_MEMORY: "64 MiB" };
    const words = ["config", "--workers", "2", "--worker.memory.target=0.5"];
    const lines = run(words, variables)
      .split("\n")
      .map((line) => line.split(/ {2,}/));
    expect(lines).toContainEqual(["workers", "2", "2", "--workers"]);
    expect(lines).toContainEqual(["maxRetries", "7", `${file}:2`]);
    expect(lines).toContainEqual(["objectStoreMemory", '"64 MiB"', "64.0 MiB", "SPILLWAY_OBJECT_STORE_MEMORY"]);
    const told = JSON.parse(run([...words, "--json"], variables));
    expect(told["worker.memory.target"]).toEqual({ value: 0.5, kind: "option", from: "--worker.memory.target" });
    expect(told["worker.memory.pause"]).toEqual({ value: false, kind: "file", from: `${file}:5` });
    expect(told["worker.memory.spill"]).toEqual({ value: 0.7, kind: "default", from: "default" });
    expect(told.workers).toEqual({ value: 2, here: "2", kind: "option", from: "--workers" });
    expect(told.maxSpill).toEqual({ value: null, kind: "default", from: "default" });
    const { maxSpill } = JSON.parse(run(["config", "--json", "--maxSpill", "2 GB"], variables));
    expect(maxSpill).toEqual({ value: "2 GB", here: "1.9 GiB", kind: "option", from: "--maxSpill" });
  });

  test("[K8] info goes by settings, too", () => {
    const told = run(["info", "--workers", "1", "--memoryLimit", "0"], { SPILLWAY_LOCAL_DIRECTORY: "/a,/b" });
    expect(told).toMatch(/^workers +1, without a memory limit/m);
    expect(told).toMatch(/^spilling +to \/a, \/b \(localDirectory\)/m);
  });

  test("[K8] help is given wherever it is asked for", () => {
    const usage = (...words: string[]) => {
      const { status, stdout } = spawnSync(process.execPath, [cli, ...words], { encoding: "utf8" });
      return { status, usage: stdout.split("\n")[0] };
    };
    for (const words of [["help"], ["-h"], []])
      expect(usage(...words)).toEqual({ status: 0, usage: "Usage: spillway <command> [options]" });
    for (const words of [
      ["config", "--help"],
      ["config", "-h"],
      ["help", "config"],
    ])
      expect(usage(...words)).toEqual({ status: 0, usage: "Usage: spillway config [options]" });
  });

  test("[K8] a wrong setting is one line and exit code 2", () => {
    for (const command of ["config", "info"]) {
      const words = [cli, command, "--worker.memory.targt", "0.5"];
      const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
      expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
      expect(stderr).toMatch(
        /^spillway: --worker\.memory\.targt: there is no option .* Did you mean "worker\.memory\.target"\?.*\n$/,
      );
    }
  });
});
