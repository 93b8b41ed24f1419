/** What is made from the schema by hand or by a command, and must not differ from it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { leaves, SCHEMA, settingsTable, shownDefault, variableOf } from "../../src/config/index.ts";

const root = join(import.meta.dirname, "../..");
const settings = leaves(SCHEMA);

test("[K8] every default is a value that the setting allows", () => {
  for (const [path, { kind, fallback, unset }] of settings) {
    if (fallback === undefined) expect(unset, path).not.toBe("");
    else expect(kind.read(fallback), path).toEqual(fallback);
  }
});

test("[K8] every setting has a variable of its own", () => {
  expect(new Set(settings.map(([path]) => variableOf(path))).size).toBe(settings.length);
  expect(variableOf("worker.memory.recentToOldTime")).toBe("SPILLWAY_WORKER__MEMORY__RECENT_TO_OLD_TIME");
  expect(variableOf("memoryMonitorRefreshMs")).toBe("SPILLWAY_MEMORY_MONITOR_REFRESH_MS");
});

test("[K8] the table in docs/configuration.md is the schema's (spillway config --markdown)", () => {
  const page = readFileSync(join(root, "docs/configuration.md"), "utf8");
  const [, table] = /<!-- settings -->\n\n([\s\S]*?)\n<!-- end of settings -->/.exec(page) ?? [];
  expect(table).toBe(settingsTable());
});

/** What the settings of an interface in session-options.ts begin with. */
const PREFIXES: Readonly<Record<string, string>> = {
  SessionOptions: "",
  WorkerOptions: "worker.memory.",
  ResourceLimits: "resourceLimits.",
};

/** On one line where it fits, else on lines within 120 columns. */
function comment(text: string, indent: string): string {
  const whole = `${indent}/** ${text} */`;
  if (whole.length <= 120) return whole;
  const lines = [`${indent} *`];
  for (const word of text.split(" ")) {
    const longer = `${lines.at(-1)} ${word}`;
    if (longer.length <= 120) lines[lines.length - 1] = longer;
    else lines.push(`${indent} * ${word}`);
  }
  return [`${indent}/**`, ...lines, `${indent} */`].join("\n");
}

test("[K8] the comments of SessionOptions are the schema's descriptions and defaults; `vitest -u` writes them", async () => {
  const path = join(root, "src/config/session-options.ts");
  const left = new Map(settings);
  let prefix = "";
  const parts = /export interface (\w+)|( *)\/\*\*(?:(?!\*\/)[\s\S])*\*\/(\n *readonly (\w+)\?:)/g;
  const written = readFileSync(path, "utf8").replace(parts, (part, name?: string, indent = "", rest = "", key = "") => {
    if (name !== undefined) prefix = PREFIXES[name] ?? "";
    const setting = left.get(prefix + key);
    if (name !== undefined || setting === undefined) return part;
    left.delete(prefix + key);
    return `${comment(`${setting.about} Default: ${shownDefault(setting)}.`, indent)}${rest}`;
  });
  expect([...left.keys()]).toEqual([]);
  await expect(written).toMatchFileSnapshot(path);
});

test("[K8] variables that only this project's own programs read are no settings: SPILLWAY_TEST_…", () => {
  const read = ["src", "test", "bench", "scripts"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(ts|mjs)$/.test(name) && !name.includes("/."))
      .flatMap((name) => [...readFileSync(join(root, folder, name), "utf8").matchAll(/\benv\.(SPILLWAY_\w+)/g)])
      .map(([, variable = ""]) => variable),
  );
  expect(read.length).toBeGreaterThan(0);
  expect(read.filter((variable) => !variable.startsWith("SPILLWAY_TEST_"))).toEqual([]);
});
