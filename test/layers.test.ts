/** Arrows point one way: no folder imports from one that stands above it. */
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
  files: [],
  csv: [],
  text: ["errors", "protocol"],
  arrow: ["errors", "lz4"],
  protocol: ["errors", "arrow"],
  native: ["errors", "protocol"],
  memory: ["errors", "protocol", "units"],
  kernel: ["errors", "arrow", "native"],
  closure: ["errors", "place"],
  sizeof: ["errors"],
  container: ["errors", "sizeof"],
  store: ["errors", "protocol", "native", "units", "lz4"],
  scheduler: ["errors", "protocol", "store", "units", "memory"],
  supervisor: ["errors", "files", "protocol", "store", "scheduler", "memory", "native", "units"],
  worker: [
    "errors",
    "csv",
    "text",
    "files",
    "protocol",
    "arrow",
    "kernel",
    "closure",
    "container",
    "sizeof",
    "native",
    "store",
    "memory",
    "units",
  ],
  plan: ["errors", "arrow", "protocol", "units", "closure"],
  stages: ["errors", "arrow", "protocol", "units", "plan", "closure"],
  dataset: ["errors", "files", "csv", "text", "arrow", "protocol", "units", "plan", "stages", "closure"],
  config: ["errors", "container", "protocol", "units"],
  session: [
    "errors",
    "place",
    "config",
    "files",
    "arrow",
    "protocol",
    "units",
    "memory",
    "closure",
    "container",
    "dataset",
    "store",
    "supervisor",
  ],
  cli: ["errors", "arrow", "config", "protocol", "units", "session", "supervisor", "memory"],
};

function imports(text: string): string[] {
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((found) => found[1] ?? "");
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
