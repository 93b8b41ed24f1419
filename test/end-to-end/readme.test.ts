/** Every marked example of the README and the docs runs as it stands there. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { session, sql } from "spillway";
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

/** What an example finds in its directory: the files that the README speaks of. */
async function prepare(name: string, home: string): Promise<void> {
  mkdirSync(home);
  if (name !== "lineitem") return;
  const s = session({ workers: 1, progress: false });
  await s
    .range(1000)
    .select(
      sql("id").as("l_orderkey"),
      sql("DATE '1996-07-01' + id::INTEGER").as("l_shipdate"),
      sql("id * 1.5").as("l_extendedprice"),
      sql("['AIR', 'RAIL'][1 + id % 2]").as("l_shipmode"),
    )
    .writeParquet(join(home, "lineitem"));
  await s.close();
}

describe("examples in the docs", () => {
  test("[A10] there are some", () => expect(examples.length).toBeGreaterThanOrEqual(20));

  test.each(examples)("[A10] $page: $name", async ({ name, source }) => {
    const home = join(directory, name);
    await prepare(name, home);
    // Inside the project, so that "spillway" is what it is for everyone: the built package.
    const file = join(root, "dist", `.example-${name}-${process.pid}.ts`);
    try {
      writeFileSync(file, source);
      const output = execFileSync(process.execPath, ["--import", import.meta.resolve("tsx"), file], {
        cwd: home,
        encoding: "utf8",
        env: { ...process.env, XDG_STATE_HOME: join(home, "state") },
      });
      const written = readdirSync(home).filter((entry) => entry !== "state" && entry !== "lineitem");
      expect([output.trim(), ...written].join("")).not.toBe("");
    } finally {
      rmSync(file, { force: true });
    }
  });
});
