/** Prose is read in narrow windows: no comment and no line of Markdown is wider than the code may be. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const COLUMNS = 120;

/** Without what tests and benchmarks leave behind. */
function filesBelow(folder: string, extension: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(extension) && !/(^|\/)(\.|output\/|node_modules\/)/.test(name))
    .map((name) => join(folder, name));
}

/** Where a file has lines of prose that are too wide: `file:line`. */
function wideLines(file: string, isProse: (line: string) => boolean): string[] {
  return readFileSync(join(root, file), "utf8")
    .split("\n")
    .flatMap((line, index) => (isProse(line) && [...line].length > COLUMNS ? [`${file}:${index + 1}`] : []));
}

/** Tables cannot be wrapped, and code is as wide as it has to be. */
function markdownProse(): (line: string) => boolean {
  let isCode = false;
  return (line) => {
    if (/^\s*```/.test(line)) isCode = !isCode;
    return !isCode && !/^\s*\|/.test(line);
  };
}

test("lines of Markdown are within 120 columns", () => {
  const folders = ["docs", "bench", "examples", "test"];
  const files = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", ...folders.flatMap((one) => filesBelow(one, ".md"))];
  expect(files.flatMap((file) => wideLines(file, markdownProse()))).toEqual([]);
});

test("lines of comments are within 120 columns", () => {
  const folders = ["src", "bench", "test", "examples", "scripts"];
  const files = folders.flatMap((folder) => [".ts", ".mts", ".mjs", ".js"].flatMap((one) => filesBelow(folder, one)));
  expect(files.flatMap((file) => wideLines(file, (line) => /^\s*(\/\/|\/\*|\* )/.test(line)))).toEqual([]);
});
