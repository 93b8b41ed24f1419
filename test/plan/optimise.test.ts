/** The rules together: an optimised plan gives the rows of the plan as it was written, whatever the plan. */
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { toRows } from "../../src/arrow/index.ts";
import { captureFunction } from "../../src/closure/index.ts";
import { col, lit } from "../../src/dataset/index.ts";
import { optimised, resolved } from "../../src/dataset/run.ts";
import { rangeSource } from "../../src/dataset/sources/range.ts";
import {
  columnsOf,
  drop,
  dropNull,
  explode,
  fillNull,
  filter,
  limit,
  type Plan,
  project,
  raw,
  rename,
  scan,
  union,
} from "../../src/plan/index.ts";
import { buildStages, jobSpec } from "../../src/stages/index.ts";
import { InProcessEngine } from "../dataset/in-process-engine.ts";
import { fn } from "./fixtures.ts";

const engine = new InProcessEngine();
afterAll(() => engine.close());

const copy = captureFunction((row: Record<string, unknown>) => ({ ...row }), { operator: "map" });
const keep = captureFunction((row: { id: number }) => row.id % 3 !== 1, { operator: "filter" });

/** Always with the columns id, n, s and l, so that any operator can follow any other. */
const base = project(
  scan(rangeSource(engine, { start: 0, end: 23, step: 1 }, 3)),
  "with",
  [
    { name: "n", expression: raw("CASE WHEN id % 4 = 0 THEN NULL ELSE id * 1.5::DOUBLE END") },
    { name: "s", expression: raw("'s' || (id % 5)") },
    { name: "l", expression: raw("range(id % 3)") },
  ],
  "withColumn",
);
const named = (name: string, expression: ReturnType<typeof col | typeof lit>) => ({
  name,
  expression: expression.expression,
});
const all = ["id", "n", "s", "l"];

const operators: Record<string, (input: Plan, n: number) => Plan> = {
  less: (input, n) => filter(input, col("id").lt(n).expression),
  byText: (input, n) =>
    filter(
      input,
      col("s")
        .ne(`s${n % 5}`)
        .and(col("n").isNotNull()).expression,
    ),
  byRaw: (input, n) => filter(input, raw(`id <> ${n}`)),
  never: (input) => filter(input, lit(1).gt(2).expression),
  grow: (input, n) => project(input, "with", [named("n", col("n").add(n) as never)], "withColumn"),
  square: (input) => project(input, "with", [named("n", col("n").multiply(col("id")) as never)], "withColumn"),
  swap: (input) =>
    project(
      input,
      "select",
      [...all.filter((name) => name !== "id").map((name) => named(name, col(name))), named("id", col("id"))],
      "select",
    ),
  add: (input, n) => drop(project(input, "with", [named("x", col("id").add(n) as never)], "withColumn"), ["x"]),
  rename: (input) => rename(rename(input, new Map([["id", "key"]])), new Map([["key", "id"]])),
  renamed: (input, n) =>
    rename(filter(rename(input, new Map([["id", "key"]])), col("key").gt(n - 15).expression), new Map([["key", "id"]])),
  limit: (input, n) => limit(input, 0, n),
  offset: (input, n) => limit(input, n % 7, null),
  slice: (input, n) => limit(input, n % 3, n % 11),
  dropNull: (input) => dropNull(input, ["n"]),
  fillNull: (input, n) => fillNull(input, { kind: "columns", values: new Map([["n", n]]) }),
  explode: (input) => project(explode(input, "l"), "with", [named("l", lit([7, 8]) as never)], "withColumn"),
  union: (input, n) => union([filter(input, col("id").gt(n).expression), limit(input, 0, 2)]),
  map: (input) => fn(input, { form: "map", payload: copy.payload }),
  keep: (input) => fn(input, { form: "filter", payload: keep.payload, columns: ["id"] }),
};

async function rowsOf(plan: Plan): Promise<readonly Record<string, unknown>[]> {
  const stages = await buildStages(plan, false);
  const payloads = new Map();
  for (const stage of stages.stages) {
    for (const step of stage.kind === "tasks" ? stage.steps : []) {
      if (step.kind === "function") payloads.set(step.node, await engine.putBytes(step.node.fn.payload));
    }
  }
  const spec = jobSpec(stages, {
    id: engine.newJobId(),
    sink: { kind: "blocks", targetBytes: 2 ** 20, minBytes: false },
    blocks: { kind: "blocks", targetBytes: 2 ** 20, minBytes: false },
    workers: 2,
    resources: { cpu: 2, gpu: 0, memory: 2 ** 30 },
    preserveOrder: true,
    shuffleBytes: 1 << 20,
    maxErroredBlocks: 0,
    maxRetries: 0,
    maxOomRetries: 0,
    learnedOf: () => null,
    appetiteOf: () => null,
    failedBefore: () => false,
    payloadOf: (node) => payloads.get(node),
  });
  const rows: Record<string, unknown>[] = [];
  for await (const block of engine.run(spec, { wantBlocks: 1 })) {
    rows.push(...toRows(block.read()));
    block.release();
  }
  return rows;
}

test("[D6] the rules never change what a plan gives", async () => {
  const step = fc.tuple(fc.constantFrom(...Object.keys(operators)), fc.nat({ max: 25 }));
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 7 }), fc.subarray(all, { minLength: 1 }), async (steps, wanted) => {
      let plan: Plan = base;
      for (const [name, n] of steps) plan = operators[name]?.(plan, n) ?? plan;
      const last = project(
        plan,
        "select",
        wanted.map((name) => named(name, col(name))),
        "select",
      );
      const asWritten = await rowsOf(await resolved(engine, last));
      const best = await optimised(engine, last);
      expect(await rowsOf(best)).toEqual(asWritten);
      expect(columnsOf(best)).toEqual(wanted);
    }),
    { numRuns: 250 },
  );
});
