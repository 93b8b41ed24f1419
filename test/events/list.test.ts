/** docs/events.md has a row for each kind of event, and no other. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

function textOf(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

function typesIn(path: string): string[] {
  return [...textOf(path).matchAll(/readonly type: "(\w+)"/g)].map((found) => found[1] ?? "");
}

test("[W2] docs/events.md lists every event, and marks those that listeners get", () => {
  const listened = typesIn("src/protocol/session-events.ts");
  const all = [...typesIn("src/protocol/stream-events.ts"), ...listened, "notice"];
  const rows = [...textOf("docs/events.md").matchAll(/^\| `(\w+)`( \*)? /gm)];
  expect(rows.map((row) => row[1] ?? "").sort()).toEqual([...new Set(all)].sort());
  const marked = rows.filter((row) => row[2] !== undefined).map((row) => row[1] ?? "");
  expect(marked.sort()).toEqual([...new Set(listened)].sort());
});
