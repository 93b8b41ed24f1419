/** Who may say what, who wins, and what whoever says it wrongly is told. */
import { mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readConfig, type SessionOptions } from "../../src/config/index.ts";
import { OptionError } from "../../src/errors/index.ts";
import { MARK } from "../../src/supervisor/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("config");
let files = 0;

function yaml(text: string): string {
  const path = join(directory, `${files++}.yaml`);
  writeFileSync(path, text);
  return path;
}

interface Said {
  readonly file?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly code?: object;
  readonly words?: readonly string[];
}

function config({ file, variables = {}, code = {}, words = [] }: Said) {
  const environment = { ...variables, SPILLWAY_CONFIG: file === undefined ? "/dev/null" : yaml(file) };
  return readConfig({ code: code as SessionOptions, arguments: words, environment });
}

function refused(said: Said) {
  expect(() => config(said)).toThrow(OptionError);
  return expect(() => config(said));
}

describe("who wins", () => {
  const FILE = "worker:\n  memory:\n    target: 0.1\n    spill: 0.75\n";
  const VARIABLES = { SPILLWAY_WORKER__MEMORY__TARGET: "0.2" };
  const CODE = { worker: { memory: { target: 0.3 } } };
  const WORDS = ["--worker.memory.target", "0.4"];

  test("[K8] defaults, file, variables, code, command line: the later one, setting by setting", () => {
    const told = (said: Said) => {
      const { values, sources } = config(said);
      const { target, spill } = values.worker.memory;
      return { target, spill, from: sources.get("worker.memory.target")?.kind };
    };
    expect(told({})).toEqual({ target: 0.6, spill: 0.7, from: undefined });
    expect(told({ file: FILE })).toEqual({ target: 0.1, spill: 0.75, from: "file" });
    expect(told({ file: FILE, variables: VARIABLES })).toEqual({ target: 0.2, spill: 0.75, from: "variable" });
    expect(told({ file: FILE, variables: VARIABLES, code: CODE })).toEqual({ target: 0.3, spill: 0.75, from: "code" });
    expect(told({ file: FILE, variables: VARIABLES, code: CODE, words: WORDS })).toEqual({
      target: 0.4,
      spill: 0.75,
      from: "option",
    });
  });

  test("[K8] what is undefined in code, and a variable that is empty, say nothing", () => {
    const { values } = config({
      file: "workers: 3\n",
      variables: { SPILLWAY_WORKERS: "", SPILLWAY_EAGER: "" },
      code: { workers: undefined, worker: { memory: undefined } },
    });
    expect(values).toMatchObject({ workers: 3, eager: false });
  });

  test("[K8] each source says where it is", () => {
    const { sources } = config({
      file: "# mine\nworkers: 3\n\nworker: { memory: {\n  pause: false } }\n",
      variables: { SPILLWAY_OBJECT_STORE_MEMORY: "1 GiB" },
      words: ["--maxRetries=5"],
    });
    const name = (path: string) => sources.get(path)?.name;
    expect(name("workers")).toMatch(/\d+\.yaml:2$/);
    expect(name("worker.memory.pause")).toMatch(/\d+\.yaml:5$/);
    expect(name("objectStoreMemory")).toBe("SPILLWAY_OBJECT_STORE_MEMORY");
    expect(name("maxRetries")).toBe("--maxRetries");
  });
});

describe("every threshold is a fraction or false, from everywhere", () => {
  test.each(["target", "spill", "pause", "terminate"] as const)("[K8] %s", (name) => {
    const variable = `SPILLWAY_WORKER__MEMORY__${name.toUpperCase()}`;
    const path = `worker.memory.${name}`;
    for (const said of [
      { file: `worker:\n  memory:\n    ${name}: false\n` },
      { variables: { [variable]: "false" } },
      { code: { worker: { memory: { [name]: false } } } },
      { words: [`--${path}`, "false"] },
    ]) {
      expect(config(said).values.worker.memory[name]).toBe(false);
    }
    const wrong = `${path} must be a fraction above 0 and up to 1, or false, not`;
    refused({ file: `worker:\n  memory:\n    ${name}: 60%\n` }).toThrow(`.yaml:3: ${wrong} "60%".`);
    refused({ variables: { [variable]: "1.5" } }).toThrow(`${variable}: ${wrong} 1.5.`);
    refused({ code: { worker: { memory: { [name]: 0 } } } }).toThrow(`session: ${wrong} 0.`);
    refused({ code: { worker: { memory: { [name]: null } } } }).toThrow(`session: ${wrong} null.`);
    refused({ words: [`--${path}=true`] }).toThrow(`--${path}: ${wrong} true.`);
  });

  test("[K8] those that do not rise are told, with who said them", () => {
    refused({ code: { worker: { memory: { spill: 0.5 } } } }).toThrow(
      "worker.memory.spill of 0.5 (session) is below worker.memory.target of 0.6 (the default)",
    );
    refused({ variables: { SPILLWAY_WORKER__MEMORY__TERMINATE: "0.75" } }).toThrow(
      "worker.memory.terminate of 0.75 (SPILLWAY_WORKER__MEMORY__TERMINATE) is below worker.memory.pause of 0.8 (the default)",
    );
    refused({ code: { worker: { memory: { spill: false, target: 0.9 } } } }).toThrow(
      "pause of 0.8 (the default) is below",
    );
    const { values } = config({ code: { worker: { memory: { target: 0.8, spill: 0.8, pause: false } } } });
    expect(values.worker.memory).toMatchObject({ target: 0.8, spill: 0.8, pause: false, terminate: 0.95 });
  });
});

describe("keys that there are not", () => {
  test("[K8] in code", () => {
    refused({ code: { objectStoreMemry: 1 } }).toThrow(
      /^session: there is no option "objectStoreMemry". Did you mean "objectStoreMemory"\? Options: workers, /,
    );
    refused({ code: { worker: { memory: { targt: 0.5 } } } }).toThrow(
      'session: there is no option "worker.memory.targt". Did you mean "worker.memory.target"? Options: target, spill, ',
    );
    refused({ code: { terminate: 0.9 } }).toThrow('Did you mean "worker.memory.terminate"?');
    refused({ code: { worker: { pauze: 0.9 } } }).toThrow('Did you mean "worker.memory.pause"?');
    // Nothing like any of them, only in the same place.
    refused({ code: { worker: { memory: { colour: 1 } } } }).toThrow(/"worker\.memory\.colour"\. Options: target, /);
    refused({ code: { constructor: 1 } }).toThrow('there is no option "constructor"');
    refused({ code: { worker: 2 } }).toThrow(
      'worker must be an object with some of memory, not 2. Did you mean "workers"?',
    );
    refused({ code: [] }).toThrow("the options must be an object");
  });

  test("[K8] in the file, with the line", () => {
    refused({ file: "workers: 2\nobject_store_memory: 1 GiB\n" }).toThrow(
      /\d\.yaml:2: there is no option "object_store_memory"\. Did you mean "objectStoreMemory"\?/,
    );
    refused({ file: "worker:\n  memory:\n    target: 0.5\n    pauze: 0.8\n" }).toThrow(
      /\d\.yaml:4: there is no option "worker\.memory\.pauze"\. Did you mean "worker\.memory\.pause"\?/,
    );
    refused({ file: "worker.memory.target: 0.5\n" }).toThrow("Did you mean { worker: { memory: { target: … } } }?");
    refused({ file: "worker: 3\n" }).toThrow(/\d\.yaml:1: worker must be an object/);
  });

  test("[K8] in variables; those of the tests and the mark of workers are no settings", () => {
    refused({ variables: { SPILLWAY_WORKR__MEMORY__TARGET: "0.5" } }).toThrow(
      "SPILLWAY_WORKR__MEMORY__TARGET: there is no such variable. Did you mean SPILLWAY_WORKER__MEMORY__TARGET?",
    );
    refused({ variables: { SPILLWAY_WORKER_MEMORY_TARGET: "0.5" } }).toThrow(
      "Did you mean SPILLWAY_WORKER__MEMORY__TARGET?",
    );
    refused({ variables: { SPILLWAY_CONFG: "a" } }).toThrow("Did you mean SPILLWAY_CONFIG?");
    refused({ variables: { SPILLWAY_FOO: "1" } }).toThrow("SPILLWAY_FOO: there is no such variable. A variable that");
    refused({ variables: { SPILLWAY_DATE: "1" } }).not.toThrow("SPILLWAY_DATA");
    refused({ variables: { SPILLWAY_WORKER__MEMORY: "0.5" } }).toThrow(
      "SPILLWAY_WORKER__MEMORY names a group of settings: SPILLWAY_WORKER__MEMORY__TARGET, ",
    );
    refused({ variables: { SPILLWAY_WORKER: "2" } }).toThrow(
      "SPILLWAY_WORKER names a group of settings: SPILLWAY_WORKER__MEMORY__TARGET, ",
    );
    expect(config({ variables: { SPILLWAY_TEST_SEED: "1", [MARK]: "s/1", SPILLWAYS: "x" } }).sources.size).toBe(0);
  });

  test("[K8] on the command line", () => {
    refused({ words: ["--worker.memory.targt", "0.5"] }).toThrow(
      '--worker.memory.targt: there is no option "worker.memory.targt". Did you mean "worker.memory.target"?',
    );
    refused({ words: ["--worker", "2"] }).toThrow("--worker: worker is a group of settings: worker.memory.target, ");
    refused({ words: ["--workers.memory", "2"] }).toThrow('there is no option "workers.memory"');
    refused({ words: ["0.5"] }).toThrow('"0.5" is not an option');
    refused({ words: ["--maxRetries"] }).toThrow(
      "maxRetries must be a whole number, at least 0, but no value follows it",
    );
    refused({ words: ["--maxRetries", "--eager"] }).toThrow("no value follows it");
  });
});

describe("kinds of values", () => {
  test("[K8] each from a text", () => {
    const { values } = config({
      variables: {
        SPILLWAY_WORKERS: "3",
        SPILLWAY_OBJECT_STORE_MEMORY: "40%",
        SPILLWAY_MEMORY_LIMIT: " auto ",
        SPILLWAY_LOCAL_DIRECTORY: "/a, /b",
        SPILLWAY_MAX_SPILL: "1e9",
        SPILLWAY_SPILL_COMPRESSION: "lz4",
        SPILLWAY_EAGER: " 1",
        SPILLWAY_PROGRESS: "FALSE",
        SPILLWAY_WORKER__MEMORY__RECENT_TO_OLD_TIME: "1m",
        SPILLWAY_RESOURCE_LIMITS__CPU: "2",
        SPILLWAY_TARGET_MIN_BLOCK_SIZE: "false",
        SPILLWAY_WORKER_ENV: "A=1,B=x=y",
      },
      words: ["--workerExecArgv", '["--expose-gc","--title=a,b"]', "--exchange", "--preserveOrder"],
    });
    expect(values).toMatchObject({
      workers: 3,
      objectStoreMemory: "40%",
      memoryLimit: "auto",
      localDirectory: ["/a", "/b"],
      maxSpill: 1e9,
      spillCompression: "lz4",
      eager: true,
      progress: false,
      worker: { memory: { recentToOldTime: "1m" } },
      resourceLimits: { cpu: 2 },
      targetMinBlockSize: false,
      workerEnv: { A: "1", B: "x=y" },
      workerExecArgv: ["--expose-gc", "--title=a,b"],
      exchange: true,
      preserveOrder: true,
    });
  });

  test("[K8] a list or an object in JSON that is broken is no path and no text", () => {
    refused({ variables: { SPILLWAY_LOCAL_DIRECTORY: '["/a", "/b"' } }).toThrow(
      /^SPILLWAY_LOCAL_DIRECTORY: localDirectory must be a path or a list of paths; "\[.*" begins like JSON but is not valid JSON: .+/,
    );
    refused({ words: ["--workerExecArgv", "[--expose-gc]"] }).toThrow("must be a list of texts; ");
    refused({ variables: { SPILLWAY_WORKER_ENV: '{"A": 1' } }).toThrow("begins like JSON but is not valid JSON");
    refused({ variables: { SPILLWAY_WORKER_ENV: "=x" } }).toThrow('not an object with "" (string)');
  });

  test("[K8] ~ is the home directory in paths", () => {
    expect(config({ file: "localDirectory: [~/a, /b~/c]\n" }).values.localDirectory).toEqual([
      join(homedir(), "a"),
      "/b~/c",
    ]);
    expect(config({ variables: { SPILLWAY_LOCAL_DIRECTORY: "~/a" } }).values.localDirectory).toEqual([
      join(homedir(), "a"),
    ]);
  });

  test("[A15] what may be a password is not quoted", () => {
    const wrong = (value: unknown) => refused({ code: { workerEnv: value } });
    wrong({ PASSWORD: ["hunter2"], USER: "me" }).toThrow(
      /, not an object with "PASSWORD" \(object\), "USER" \(string\)\.$/,
    );
    wrong("PASSWORD=hunter2").toThrow(/, not a string\.$/);
    wrong(["hunter2"]).toThrow(/, not a list\.$/);
    const variable = (text: string) => refused({ variables: { SPILLWAY_WORKER_ENV: text } });
    variable('{"PASSWORD":"hunter2"').toThrow(/; the value begins like JSON but is not valid JSON\.$/);
    variable("hunter2").toThrow(/, not a list\.$/);
  });

  test("[K8] a bad one is told what is allowed", () => {
    const wrong = (code: object) => refused({ code });
    wrong({ workers: 0 }).toThrow("session: workers must be a whole number, at least 1, not 0.");
    wrong({ workers: 1.5 }).toThrow("workers must be a whole number");
    wrong({ workers: "2" }).toThrow('not "2"');
    wrong({ maxSpill: "lots" }).toThrow('maxSpill must be a size (bytes, "4 GiB", ');
    wrong({ memoryLimit: true }).toThrow('memoryLimit must be "auto", a size');
    wrong({ memoryLimit: -1 }).toThrow("or 0 or false for none, not -1");
    wrong({ spillCompression: "lz" }).toThrow('one of "none", "lz4", "zstd", "auto", not "lz". Did you mean "lz4"?');
    wrong({ eager: "yes" }).toThrow('session: eager must be true or false, not "yes".');
    wrong({ worker: { memory: { recentToOldTime: "soon" } } }).toThrow("must be a duration (milliseconds, ");
    wrong({ memoryUsageThreshold: true }).toThrow("must be a fraction above 0 and up to 1, or false, not true");
    wrong({ worker: { memory: { monitorInterval: 0 } } }).toThrow("must be a duration of 1 ms or more");
    wrong({ resourceLimits: { gpu: 1e9 } }).toThrow("at least 0 and at most 1024");
    wrong({ maxSpill: "1e400 GiB" }).toThrow("maxSpill must be a size");
    wrong({ localDirectory: [] }).toThrow("must be a path or a list of paths, not []");
    wrong({ localDirectory: ["/a", 1] }).toThrow("a path or a list of paths");
    wrong({ workerEnv: { A: {} } }).toThrow("workerEnv must be an object of texts");
    wrong({ workerExecArgv: "--inspect" }).toThrow("workerExecArgv must be a list of texts");
    wrong({ resourceLimits: { cpu: "200%" } }).toThrow("resourceLimits.cpu must be a number of cores");
    wrong({ mallocTrimThreshold: "no" }).toThrow("or false");
    wrong({ mallocTrimThreshold: "30%" }).toThrow('mallocTrimThreshold must be bytes, "1 MiB", or false, not "30%"');
    wrong({ memoryLimit: Number.NaN }).toThrow("for none, not NaN");
    wrong({ memoryLimit: 10n }).toThrow("for none, not 10n");
    wrong({ data: 1 }).toThrow("data must be an object or a function");
    // Also where somebody later overrules it.
    refused({ variables: { SPILLWAY_WORKERS: "many" }, code: { workers: 2 } }).toThrow(
      "SPILLWAY_WORKERS: workers must be",
    );
  });

  test("[K8] worker data can be given in code only", () => {
    const data = new Map();
    expect(config({ code: { data } }).values.data).toBe(data);
    refused({ file: "data: {}\n" }).toThrow(/\.yaml:1: data can be given in code only/);
    refused({ variables: { SPILLWAY_DATA: "{}" } }).toThrow("SPILLWAY_DATA: data can be given in code only");
    refused({ words: ["--data", "{}"] }).toThrow("--data: data can be given in code only");
  });
});

describe("the file", () => {
  test("[K8] is ~/.config/spillway/spillway.yaml, and need not be there", () => {
    const home = join(directory, "home");
    const environment = { XDG_CONFIG_HOME: home };
    expect(readConfig({ environment }).sources.size).toBe(0);
    mkdirSync(join(home, "spillway"), { recursive: true });
    writeFileSync(join(home, "spillway", "spillway.yaml"), "workers: 5\n");
    expect(readConfig({ environment }).values.workers).toBe(5);
    expect(readConfig({ environment }).sources.get("workers")?.name).toBe(join(home, "spillway", "spillway.yaml:1"));
  });

  test("[K8] that SPILLWAY_CONFIG names must be there", () => {
    const environment = { SPILLWAY_CONFIG: join(directory, "nowhere.yaml") };
    expect(() => readConfig({ environment })).toThrow(OptionError);
    expect(() => readConfig({ environment })).toThrow(
      /nowhere\.yaml: the configuration cannot be read: ENOENT.*SPILLWAY_CONFIG names this file: set it to a file that exists/,
    );
    expect(() => readConfig({ environment: { SPILLWAY_CONFIG: directory } })).toThrow(/cannot be read: EISDIR/);
  });

  test("[K8] that is no YAML, or no settings, is named with the line", () => {
    refused({ file: "workers: 2\nworker: {memory: [\n" }).toThrow(/\.yaml:\d+: the configuration is not valid YAML: /);
    refused({ file: "workers: 2\nworkers: 3\n" }).toThrow(/\.yaml:2: workers is given a second time\. /);
    refused({ file: "worker:\n  memory: { target: 0.5, target: 0.4 }\n" }).toThrow(
      /\.yaml:2: target is given a second time/,
    );
    refused({ file: "workers: *two\n" }).toThrow(/\.yaml.*: the configuration is not valid YAML: Unresolved alias/);
    refused({ file: "workers: 1\n---\nworkers: 2\n" }).toThrow("the configuration is not valid YAML");
    refused({ file: "workers\n" }).toThrow('the configuration must be settings by name, such as "workers: 2"');
    refused({ file: "- workers\n" }).toThrow("the configuration must be settings by name");
  });

  test("[K8] that has only comments, or groups with nothing in them, says nothing", () => {
    expect(config({ file: "" }).sources.size).toBe(0);
    expect(config({ file: "# nothing yet\n" }).sources.size).toBe(0);
    expect(config({ file: "---\n" }).sources.size).toBe(0);
    expect(config({ file: "worker:\n  memory:\n    # target: 0.5\n" }).sources.size).toBe(0);
    refused({ file: "workers:\n" }).toThrow(/\.yaml:1: workers must be a whole number, at least 1, not null/);
  });

  test("[K8] may use anchors, and plain numbers for variables of workers", () => {
    const { values, sources } = config({
      file:
        "base: &share 0.4\n".replace("base", "memoryUsageThreshold") +
        "objectStoreMemory: *share\nworkerEnv:\n  A: 1\n  B: yes\n",
    });
    expect(values).toMatchObject({
      memoryUsageThreshold: 0.4,
      objectStoreMemory: 0.4,
      workerEnv: { A: "1", B: "yes" },
    });
    expect(sources.get("objectStoreMemory")?.name).toMatch(/:2$/);
  });
});
