/** Arrows point one way: no folder imports from one that stands above it. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const src = fileURLToPath(new URL("../src", import.meta.url));

/** What each room may use. */
const MAY_USE: Readonly<Record<string, readonly string[]>> = {
  errors: [],
  units: ["errors", "protocol"],
  lz4: [],
  files: [],
  csv: [],
  arrow: ["errors", "lz4"],
  protocol: ["errors", "arrow"],
  native: ["errors", "protocol"],
  memory: ["errors", "protocol", "units"],
  kernel: ["errors", "arrow", "native"],
  closure: ["errors"],
  sizeof: ["errors"],
  container: ["errors", "sizeof"],
  store: ["errors", "protocol", "native", "units", "lz4"],
  scheduler: ["errors", "protocol", "store", "units", "memory"],
  supervisor: ["errors", "files", "protocol", "store", "scheduler", "memory", "native", "units"],
  worker: [
    "errors",
    "csv",
    "files",
    "protocol",
    "arrow",
    "kernel",
    "closure",
    "container",
    "native",
    "store",
    "memory",
    "units",
  ],
  plan: ["errors", "arrow", "protocol", "units", "closure"],
  stages: ["errors", "arrow", "protocol", "units", "plan", "closure"],
  dataset: ["errors", "files", "csv", "arrow", "protocol", "units", "plan", "stages", "closure"],
  config: ["errors", "container", "protocol", "units"],
  session: [
    "errors",
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
  cli: ["errors", "config", "protocol", "units", "session", "supervisor", "memory"],
};

function imports(file: string): string[] {
  return [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(
    (found) => found[1] ?? "",
  );
}

test("folders import only what stands below them", () => {
  const wrong: string[] = [];
  for (const entry of readdirSync(src, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
    const file = join(entry.parentPath, entry.name);
    const [room = "", ...rest] = relative(src, file).split("/");
    if (rest.length === 0) continue;
    for (const specifier of imports(file)) {
      const [target = ""] = relative(src, join(entry.parentPath, specifier)).split("/");
      if (target !== room && !(MAY_USE[room] ?? []).includes(target))
        wrong.push(`${relative(src, file)} uses ${target}`);
    }
  }
  expect(wrong).toEqual([]);
});
