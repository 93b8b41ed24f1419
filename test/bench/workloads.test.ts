import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { places } from "../../bench/places.ts";
import { WORKLOADS } from "../../bench/workloads/index.ts";

const programs = join(places.project, "bench", "programs");

test("every workload has a name of its own, and no group is called like one", () => {
  const names = WORKLOADS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(WORKLOADS.filter(({ group }) => group !== undefined && names.includes(group))).toEqual([]);
});

test.each(WORKLOADS)("$name has a program for every engine that it names", async ({ name, program = name, peers }) => {
  expect(existsSync(join(programs, `${program}.ts`))).toBe(true);
  if (peers.includes("duckdb")) expect(existsSync(join(programs, `${program}.duckdb.ts`))).toBe(true);
  const python = peers.filter((peer) => peer !== "duckdb" && peer !== "unboxed");
  if (python.length === 0) return;
  const text = await readFile(join(places.peers, `${program.replaceAll("-", "_")}.py`), "utf8");
  for (const peer of python) expect(text).toContain(`"${peer}": `);
});

test("a target names an engine that is run", () => {
  for (const { peers, targets } of WORKLOADS) {
    const named = targets.flatMap((target) =>
      target.kind === "faster" ? [target.than] : target.kind === "within" ? [target.of] : [],
    );
    expect(peers).toEqual(expect.arrayContaining(named));
  }
});
