/**
 * The list of features, the names of tests, the pages of docs/ and the comments of src/ agree. Only ids and links are
 * compared: whether a page says enough about a feature is for its reader to judge.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Feature {
  readonly id: string;
  /** "planned", or links to the pages that document it. */
  readonly page: string;
}

interface Mention {
  readonly id: string;
  /** Path from the root of the repository. */
  readonly file: string;
}

const features = readFeatures();
const ids = new Set(features.map(({ id }) => id));
const named = [...namesOfTests()];
const tested = new Set(named.map(({ id }) => id));

/** Rows of the tables: `| id | feature | page |`. */
function readFeatures(): Feature[] {
  const rows = readFileSync(join(root, "docs/features.md"), "utf8").matchAll(/^\| ([A-Z]\d+) .*\| (.*?) *\|$/gm);
  return [...rows].map(([, id = "", page = ""]) => ({ id, page }));
}

/** Path from the root and text of every file below a folder whose name ends so. */
function* files(folder: string, ending: RegExp): Iterable<readonly [string, string]> {
  for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !ending.test(entry.name)) continue;
    const file = join(entry.parentPath, entry.name);
    yield [relative(root, file), readFileSync(file, "utf8")];
  }
}

/** A name is the text that a call begins with: `test("…", `, `test.each(rows)("…", `. A test in a comment is none. */
function* namesOfTests(): Iterable<Mention> {
  for (const [file, text] of files("test", /\.test(-d)?\.ts$/)) {
    const code = text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, "");
    for (const [, , name = ""] of code.matchAll(/\(\s*(["'`])(.*?)\1,/g)) {
      for (const [, id = ""] of name.matchAll(/\[([A-Z]\d+)\]/g)) yield { id, file };
    }
  }
}

/** Other words of a capital and a number. */
const WORDS = new Set(["V8"]);

function* mentionsInComments(): Iterable<Mention> {
  for (const [file, text] of files("src", /\.ts$/)) {
    for (const [comment] of text.matchAll(/\/\*\*?\s[\s\S]*?\*\/|(?<=^|\s)\/\/ .*/gm)) {
      for (const [id] of comment.matchAll(/(?<![\w.-])[A-Z]\d{1,2}(?!\w)/g)) if (!WORDS.has(id)) yield { id, file };
    }
  }
}

function unlisted(mentions: Iterable<Mention>): string[] {
  const wrong = [...mentions].filter(({ id }) => !ids.has(id)).map(({ id, file }) => `${id} in ${file}`);
  return [...new Set(wrong)];
}

/** Anchors of a page's headings, as GitHub makes them. */
function anchors(page: string): string[] {
  return [...readFileSync(page, "utf8").matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

function leadsNowhere(link: string): boolean {
  const [path = "", anchor] = link.split("#");
  const page = join(root, "docs", path);
  return !existsSync(page) || (anchor !== undefined && !anchors(page).includes(anchor));
}

test("every feature has one row", () => {
  const all = features.map(({ id }) => id);
  expect(all.filter((id, index) => all.indexOf(id) !== index)).toEqual([]);
});

test("ids that tests name are in the list", () => {
  expect(unlisted(named)).toEqual([]);
});

test("ids in comments of the source are in the list", () => {
  expect(unlisted(mentionsInComments())).toEqual([]);
});

test("a feature with a page has a test", () => {
  const untested = features.filter(({ id, page }) => page !== "planned" && !tested.has(id));
  expect(untested, "these have no test: write one, or say that they are planned").toEqual([]);
});

test("a feature with a test has a page", () => {
  const undocumented = features.filter(({ id, page }) => tested.has(id) && !/\]\([^)]+\)/.test(page));
  expect(undocumented, "these have a test: link the page that documents them").toEqual([]);
});

test("links lead to pages and headings that exist", () => {
  const links = features.flatMap(({ id, page }) =>
    [...page.matchAll(/\]\(([^)]+)\)/g)].map(([, to = ""]) => ({ id, to })),
  );
  expect(links.filter(({ to }) => leadsNowhere(to))).toEqual([]);
});
