/**
 * Arrows point one way: no folder imports from one that stands above it; and they end at a folder's door, its index.ts.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../src", import.meta.url));

/** What each room may use; `realm` stands below all of them. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  realm: [],
  errors: [],
  place: ["errors"],
  units: ["errors", "protocol"],
  lz4: [],
  titles: [],
  files: [],
  loopback: [],
  csv: ["protocol"],
  parquet: [],
  text: ["errors", "protocol"],
  arrow: ["errors", "lz4"],
  protocol: ["errors", "arrow"],
  native: ["errors", "protocol"],
  memory: ["errors", "protocol", "units"],
  kernel: ["errors", "arrow", "native"],
  closure: ["errors", "place"],
  sizeof: ["errors"],
  "worker-data": ["errors", "sizeof"],
  store: ["errors", "protocol", "native", "units", "lz4"],
  partitions: ["protocol"],
  scheduler: ["errors", "config", "notices", "partitions", "protocol", "store", "units", "memory"],
  events: ["errors", "files", "protocol"],
  diagnose: ["protocol", "titles", "units"],
  notices: ["protocol", "units"],
  supervisor: [
    "errors",
    "config",
    "events",
    "files",
    "loopback",
    "profile",
    "protocol",
    "store",
    "scheduler",
    "memory",
    "native",
    "units",
  ],
  profile: ["errors", "place", "files", "protocol", "closure"],
  worker: [
    "place",
    "profile",
    "errors",
    "csv",
    "parquet",
    "text",
    "files",
    "protocol",
    "arrow",
    "kernel",
    "closure",
    "worker-data",
    "sizeof",
    "native",
    "store",
    "memory",
    "units",
  ],
  plan: ["errors", "arrow", "protocol", "units", "closure"],
  stages: ["errors", "arrow", "partitions", "protocol", "units", "plan", "closure"],
  dataset: [
    "errors",
    "diagnose",
    "files",
    "csv",
    "text",
    "arrow",
    "protocol",
    "titles",
    "units",
    "plan",
    "stages",
    "closure",
  ],
  config: ["errors", "worker-data", "memory", "protocol", "units"],
  session: [
    "errors",
    "events",
    "notices",
    "place",
    "config",
    "files",
    "arrow",
    "protocol",
    "units",
    "memory",
    "closure",
    "worker-data",
    "dataset",
    "store",
    "supervisor",
    "report",
  ],
  dashboard: ["diagnose", "errors", "events", "loopback", "memory", "profile", "protocol", "report", "titles"],
  sessions: ["errors", "events", "protocol", "session", "supervisor", "units"],
  report: ["diagnose", "errors", "events", "memory", "notices", "protocol", "units"],
  cli: [
    "errors",
    "arrow",
    "config",
    "dashboard",
    "events",
    "files",
    "protocol",
    "units",
    "session",
    "sessions",
    "store",
    "supervisor",
    "memory",
    "profile",
    "report",
  ],
};

/**
 * Files that other rooms import past the door, because the door would load too much. Types go through the door all the
 * same.
 */
const OWN_DOORS: Readonly<Record<string, string>> = {
  "closure/revive.ts": "workers revive functions and capture none: the parser and the inspector take 40 ms to load",
  "closure/stack.ts": "the profiling thread maps positions; as closure/revive.ts",
  "session/memory-plan.ts": "as session/options.ts",
  "session/options.ts": "the CLI shows the settings and starts no session: the door has all datasets behind it",
  "session/state-root.ts": "as session/options.ts",
  "store/mapping.ts": "loads C code: a program does so with its first result, and a supervisor never",
  "store/spill/index.ts": "loaded at the first spill",
  "store/spill/zstd.ts": "a program checks its options and has no ledger",
  "supervisor/sweep.ts": "loaded by a program whose supervisor was killed, and by the doctor",
};

function imports(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((found) => found[1] ?? "");
}

/** Of types alone: they are gone when the program runs. */
const TYPE_IMPORT = /(?:import|export) type [^;"]*from "(\.[^"]+)"/g;

function typeImports(text: string): string[] {
  return [...text.matchAll(TYPE_IMPORT)].map((found) => found[1] ?? "");
}

/** What is loaded with a file, without what it loads later. */
function loadedWith(text: string): string[] {
  return imports(text.replace(TYPE_IMPORT, "").replaceAll("import(", ""));
}

/** Path below `src/` and text of every source file. */
function* sources(): Iterable<readonly [string, string]> {
  for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
    const file = join(entry.parentPath, entry.name);
    yield [relative(src, file), readFileSync(file, "utf8")];
  }
}

test("folders import only what stands below them", () => {
  const wrong: string[] = [];
  for (const [file, text] of sources()) {
    const [room = "", ...rest] = file.split("/");
    if (rest.length === 0) continue;
    for (const specifier of imports(text)) {
      const [target = ""] = join(file, "..", specifier).split("/");
      if (target !== room && target !== "realm" && !(MAY_USE[room] ?? []).includes(target)) {
        wrong.push(`${file} uses ${target}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

test("folders import from one another through the door", () => {
  const wrong: string[] = [];
  const used = new Set<string>();
  for (const [file, text] of sources()) {
    const [room = ""] = file.split("/");
    for (const specifier of imports(text)) {
      const target = join(file, "..", specifier);
      const [other = "", ...rest] = target.split("/");
      if (other === room || rest.join("/") === "index.ts") continue;
      used.add(target);
      if (!(target in OWN_DOORS) || typeImports(text).includes(specifier)) wrong.push(`${file} imports ${target}`);
    }
  }
  expect(wrong).toEqual([]);
  expect([...used].sort()).toEqual(Object.keys(OWN_DOORS));
});

test("importing the package loads neither C code nor the kernel", () => {
  const texts = new Map(sources());
  const loaded = new Set(["index.ts"]);
  for (const file of loaded) {
    for (const specifier of loadedWith(texts.get(file) ?? "")) loaded.add(join(file, "..", specifier));
  }
  expect(loaded).toContain("session/session.ts");
  expect([...loaded].filter((file) => /^(native|kernel|worker)\//.test(file))).toEqual([]);
});

/** Says no to a value of another realm, as under Jest: `src/realm` has a check for each. */
test("[A1] only the realm room tells the language's own objects by instanceof or by prototype", () => {
  const builtins = Object.getOwnPropertyNames(globalThis).filter((name) => /^[A-Z]/.test(name));
  const judged = new RegExp(`instanceof (${builtins.join("|")})\\b|[!=]== ?(${builtins.join("|")})\\.prototype\\b`);
  const wrong: string[] = [];
  for (const [file, text] of sources()) {
    if (file.startsWith("realm/")) continue;
    for (const line of text.split("\n")) if (judged.test(line)) wrong.push(`${file}: ${line.trim()}`);
  }
  expect(wrong).toEqual([]);
});

/** A room of the scheduler uses only those before it; types alone may come from those after it, too. */
const SCHEDULER = [
  "state",
  "phases",
  "policies",
  "needs",
  "resources",
  "starts",
  "store",
  "flow",
  "memory",
  "oom",
  "jobs",
  "placement",
  "core",
];

test("rooms of the scheduler import those below them, through the door", () => {
  const wrong: string[] = [];
  const found = new Set<string>();
  for (const [file, text] of sources()) {
    const [top, room = "", ...rest] = file.split("/");
    if (top !== "scheduler" || rest.length === 0) continue;
    found.add(room);
    const loaded = loadedWith(text);
    for (const specifier of imports(text)) {
      const [, other = "", ...inside] = join(file, "..", specifier).split("/");
      if (!join(file, "..", specifier).startsWith("scheduler/") || other === room) continue;
      if (inside.join("/") !== "index.ts") wrong.push(`${file} goes past the door of ${other}`);
      const isBelow = SCHEDULER.indexOf(other) < SCHEDULER.indexOf(room);
      if (loaded.includes(specifier) && !isBelow) wrong.push(`${file} uses ${other}`);
    }
  }
  expect(wrong).toEqual([]);
  expect([...found].sort()).toEqual([...SCHEDULER].sort());
});

test("no file of the scheduler imports itself by way of others", () => {
  const loads = new Map<string, string[]>();
  for (const [file, text] of sources()) {
    if (file.startsWith("scheduler/"))
      loads.set(
        file,
        loadedWith(text).map((specifier) => join(file, "..", specifier)),
      );
  }
  const done = new Set<string>();
  const circle = (file: string, way: readonly string[]): readonly string[] | null => {
    if (way.includes(file)) return [...way.slice(way.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const next of loads.get(file) ?? []) {
      const found = circle(next, [...way, file]);
      if (found !== null) return found;
    }
    done.add(file);
    return null;
  };
  for (const file of loads.keys()) expect(circle(file, [])).toBe(null);
});
