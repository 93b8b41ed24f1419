/**
 * What a file exports, another file uses: an export that only its own file uses says more to a reader than is true.
 * Read from the source by its import and export statements; users are the source, the tests, benchmarks and examples.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const USERS = ["src", "test", "bench", "examples", "scripts"];
/** What the package gives to users. */
const ENTRIES = new Set(["src/index.ts", "src/api/index.ts"]);
/** Used in ways that import statements do not show. */
const USED_OTHERWISE: Readonly<Record<string, string>> = {
  "src/config/session-options.ts: optionsAreTheSchemas": "the compiler checks it",
  "src/native/index.ts: reap": "the module is handed on as a whole (Adoption in src/supervisor/orphans.ts)",
  "src/profile/recorder.ts: openRecorder": "loaded by its path (src/worker/profiling.ts)",
};

type Files = ReadonlyMap<string, string>;

function filesBelow(folder: string): [string, string][] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.m?[tj]sx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !/node_modules|\/output\/|\/\.[a-z]/.test(relative(root, file)))
    .map((file) => [relative(root, file), readFileSync(file, "utf8")]);
}

const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;
const FROM = /(?:import|export)\s+(?:type\s+)?(\*(?:\s+as\s+\w+)?|[\w$]*,?\s*\{[^}]*\})\s*from\s*"(\.[^"]+)"/g;
const DYNAMIC = /import\(\s*"(\.[^"]+)"\s*\)/g;

function namesIn(list: string, side: "own" | "given"): string[] {
  return list
    .split(",")
    .map((one) => one.trim().replace(/^type /, ""))
    .filter((one) => one !== "")
    .map((one) => one.split(/ as /)[side === "own" ? 0 : 1] ?? one);
}

function exportsOf(text: string): string[] {
  const declared = [...text.matchAll(DECLARED)].map(([, name = ""]) => name);
  return [...declared, ...[...text.matchAll(LISTED)].flatMap(([, list = ""]) => namesIn(list, "given"))];
}

/** Names that are used of each file; "*": all of them may be. */
function usesOf(files: Files): ReadonlyMap<string, ReadonlySet<string>> {
  const uses = new Map<string, Set<string>>();
  const use = (by: string, specifier: string, names: readonly string[]) => {
    const file = join(by, "..", specifier).replace(/\.js$/, ".ts");
    const known = uses.get(file) ?? new Set();
    for (const name of names) known.add(name);
    uses.set(file, known);
  };
  for (const [by, text] of files) {
    for (const [, what = "", specifier = ""] of text.matchAll(FROM)) {
      const list = /\{([^}]*)\}/.exec(what)?.[1];
      use(by, specifier, list === undefined ? ["*"] : namesIn(list, "own"));
    }
    // What is taken of a module that is loaded later is not followed: any word of the file may be one of its names.
    for (const [, specifier = ""] of text.matchAll(DYNAMIC)) use(by, specifier, text.match(/[\w$]+/g) ?? []);
  }
  return uses;
}

function unusedExports(files: Files): string[] {
  const uses = usesOf(files);
  return [...files].flatMap(([file, text]) => {
    const used = uses.get(file);
    if (!file.startsWith("src/") || ENTRIES.has(file) || used?.has("*") === true) return [];
    return exportsOf(text).flatMap((name) => (used?.has(name) === true ? [] : [`${file}: ${name}`]));
  });
}

test("every export is used by another file", () => {
  const unused = unusedExports(new Map(USERS.flatMap(filesBelow)));
  expect(unused.sort()).toEqual(Object.keys(USED_OTHERWISE).sort());
});

test("the test of exports finds what nobody uses, by its declaration and in a list", () => {
  const files = new Map([
    ["src/a/index.ts", 'export { one, type Two as Other } from "./a.ts";\nexport * from "./b.ts";'],
    ["src/a/a.ts", "export const one = 1;\nexport interface Two {}\nexport async function three() {}"],
    ["src/a/b.ts", "export class Four {}"],
    ["src/c.ts", 'import { one } from "./a/index.ts";\nexport type Five = typeof one;'],
    ["test/c.ts", 'const { Five } = await import("../src/c.ts");'],
  ]);
  expect(unusedExports(files)).toEqual(["src/a/index.ts: Other", "src/a/a.ts: three"]);
});
