/** Every marked example of the README and the docs runs as it stands there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const directory = temporaryDirectory("readme");
const pages = [
  "README.md",
  ...readdirSync(join(root, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

const examples = pages.flatMap((page) =>
  [...readFileSync(join(root, page), "utf8").matchAll(/<!-- example: ([\w-]+) -->\s*```ts\n([\s\S]*?)```/g)].map(
    (found) => ({
      page,
      name: found[1] ?? "",
      source: found[2] ?? "",
    }),
  ),
);

describe("examples in the docs", () => {
  test("[A10] there are some", () => expect(examples.length).toBeGreaterThanOrEqual(3));

  test.each(examples)("[A10] $page: $name", ({ name, source }) => {
    const home = join(directory, name);
    mkdirSync(home);
    // Beside the project, so that "spillway" is what it is for everyone: the built package.
    const file = join(root, "dist", `.example-${name}.ts`);
    writeFileSync(file, source);
    const output = execFileSync(process.execPath, ["--import", import.meta.resolve("tsx"), file], {
      cwd: home,
      encoding: "utf8",
      env: { ...process.env, XDG_STATE_HOME: join(home, "state") },
    });
    expect(output.trim()).not.toBe("");
  });
});
