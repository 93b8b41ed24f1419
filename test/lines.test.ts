/** Prose is read in narrow windows: no comment and no line of Markdown is wider than the code may be. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const COLUMNS = 120;
/** Still to be wrapped. */
const EXEMPT = "src/closure/";

function filesBelow(folder: string, extension: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(extension))
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
  const files = ["README.md", "CONTRIBUTING.md", ...filesBelow("docs", ".md")];
  expect(files.flatMap((file) => wideLines(file, markdownProse()))).toEqual([]);
});

test("lines of comments are within 120 columns", () => {
  const files = filesBelow("src", ".ts").filter((file) => !file.startsWith(EXEMPT));
  expect(files.flatMap((file) => wideLines(file, (line) => /^\s*(\/\/|\/\*|\* )/.test(line)))).toEqual([]);
});
