/** From optimised plans to operators: what is fused, what is not and why, and the SQL of each step. */
import { describe, expect, test } from "vitest";
import { col } from "../../src/dataset/index.ts";
import { explode, filter, limit, optimise, type Plan, project, sample, union } from "../../src/plan/index.ts";
import type { BlockId, BlockRef, JobId } from "../../src/protocol/index.ts";
import { buildStages, jobSpec, type Stages, stageLines } from "../../src/stages/index.ts";
import { columns, fn, openSource, table } from "../plan/fixtures.ts";

const build = (plan: Plan, takesRows = false) => buildStages(optimise(plan), takesRows);
const names = ({ stages }: Stages) => stages.map((stage) => stage.name);
const sqlOf = ({ stages }: Stages) =>
  stages.flatMap((stage) =>
    stage.kind === "tasks" ? stage.steps.flatMap((step) => (step.kind === "sql" ? [step.sql] : [])) : [],
  );
const select = (input: Plan, ...wanted: string[]) =>
  project(
    input,
    "select",
    wanted.map((name) => ({ name, expression: col(name).expression })),
    "select",
  );
const blocks = () =>
  table(
    "blocks",
    openSource(columns, {
      prunes: false,
      samples: false,
      splits: async () => ({
        splits: [{ kind: "blocks", slices: [{ block: block(7), start: 0, end: 1 }] }],
        skipped: { files: 0, rowGroups: 0, rows: 0, columns: 0 },
        notes: [],
      }),
    }),
  );
const block = (id: number): BlockRef => ({ id: id as BlockId, length: 1, rows: 1 });

describe("[R9] fusion", () => {
  test("[R9] a read, SQL and functions are one operator", async () => {
    const plan = fn(select(filter(table(), col("a").gt(1).expression), "a", "b"));
    const built = await build(fn(plan, { form: "flatMap" }));
    expect(names(built)).toEqual(["read->filter->map->flatMap"]);
    expect(sqlOf(built)).toEqual([`SELECT "a", "b" FROM {input} WHERE ("a" > 1)`]);
    expect(built.notFused).toEqual([]);
  });

  test("[R9] SQL after a function is a step of its own", async () => {
    const built = await build(filter(fn(table()), col("x").gt(1).expression));
    expect(names(built)).toEqual(["read->map->filter"]);
    expect(sqlOf(built)).toEqual([`SELECT * FROM {input} WHERE ("x" > 1)`]);
  });

  test("[R9] classes, concurrency and retries that differ stop it, and explain says so", async () => {
    const classAfter = await build(fn(fn(table()), { form: "mapBatches", isClass: true, name: "Model" }));
    expect(names(classAfter)).toEqual(["read->map", "mapBatches"]);
    expect(stageLines(classAfter).join("\n")).toContain("mapBatches(Model) is a class function, map(f) a plain one");
    const classOnRead = await build(fn(table(), { form: "mapBatches", isClass: true }));
    expect(names(classOnRead)).toEqual(["read->mapBatches"]);
    const few = { min: 1, max: 1 };
    expect(names(await build(fn(table(), { concurrency: few })))).toEqual(["read", "map"]);
    expect(names(await build(fn(fn(fn(table()), { concurrency: few }), { concurrency: few })))).toEqual([
      "read->map",
      "map->map",
    ]);
    expect(names(await build(fn(fn(table()), { maxRetries: 0 })))).toEqual(["read->map", "map"]);
    expect(names(await build(fn(fn(table()), { maxOomRetries: 0 })))).toEqual(["read->map", "map"]);
  });

  test("[R9] [O5] functions that need other resources are operators of their own, and explain says what they need", async () => {
    const request = { cpu: 2, gpu: 1, memory: 2 ** 31 };
    const built = await build(fn(fn(fn(table()), { request }), { request, name: "g" }));
    expect(names(built)).toEqual(["read->map", "map->map"]);
    const text = stageLines(built).join("\n");
    expect(text).toContain("map(f) needs 2 CPU, 1 GPU, 2.0 GiB memory, read->map 1 CPU.");
    expect(text).toContain("a task needs 2 CPU, 1 GPU, 2.0 GiB memory");
  });

  test("[O5] a request that can never be met is refused, with what there is and what to do", async () => {
    const specOf = async (request: { cpu: number; gpu: number; memory: number }) =>
      jobSpec(await build(fn(table(), { request, name: "train" })), {
        id: "j" as JobId,
        sink: { kind: "count" },
        blocks: { kind: "blocks", targetBytes: 10, minBytes: false },
        workers: 3,
        resources: { cpu: 3, gpu: 1, memory: 2 ** 30 },
        preserveOrder: true,
        shuffleBytes: 1 << 20,
        maxErroredBlocks: 1,
        maxRetries: 2,
        maxOomRetries: 0,
        payloadOf: () => block(1),
        learnedOf: () => null,
        appetiteOf: () => null,
        failedBefore: () => false,
      });
    await expect(specOf({ cpu: 4, gpu: 0, memory: 0 })).rejects.toThrow(
      "map(train): a task needs numCpus 4, but the session has 3 in total. Lower numCpus, or give the session more workers, or a larger resourceLimits.cpu.",
    );
    await expect(specOf({ cpu: 1, gpu: 2, memory: 0 })).rejects.toThrow("numGpus 2, but the session has 1 in total");
    await expect(specOf({ cpu: 1, gpu: 0, memory: 2 ** 31 })).rejects.toThrow(
      "memory 2.0 GiB, but the session has 1.0 GiB",
    );
    const last = (await specOf({ cpu: 3, gpu: 1, memory: 2 ** 30 })).operators.at(-1);
    expect(last).toMatchObject({ request: { cpu: 3, gpu: 1, memory: 2 ** 30 } });
  });

  test("[O5] small blocks are put together for a row function that says so", async () => {
    const options = { batchSize: 500, batchFormat: "columns", maxInFlight: 1, onError: "fail" } as const;
    const built = await build(fn(limit(table(), 0, 900), { form: "map", options }));
    expect(built.stages.at(-1)).toMatchObject({ name: "map", minRowsPerTask: 500 });
  });

  test("[A2] small blocks are put together for a batch function", async () => {
    const options = { batchSize: 500, batchFormat: "columns", maxInFlight: 1, onError: "fail" } as const;
    const built = await build(fn(limit(table(), 0, 900), { form: "mapBatches", options }));
    expect(built.stages.at(-1)).toMatchObject({ name: "mapBatches", minRowsPerTask: 500 });
  });
});

describe("limits, unions, samples", () => {
  test("[D6] a limit is a slice over tasks that make no more than it takes", async () => {
    const built = await build(limit(filter(table(), col("a").gt(1).expression), 5, 10));
    expect(names(built)).toEqual(["read->filter", "limit"]);
    expect(built.stages[0]).toMatchObject({ maxRowsPerTask: 15 });
    expect(sqlOf(built)).toEqual([`SELECT * FROM {input} WHERE ("a" > 1) LIMIT 15`]);
    expect(built.stages[1]).toMatchObject({ kind: "slice", offset: 5, limit: 10, input: { operators: [0] } });
  });

  test("a sink that takes rows itself ends in a task", async () => {
    expect(names(await build(limit(table(), 0, 5), true))).toEqual(["read", "limit", "gather"]);
    expect(names(await build(limit(table(), 0, 5), false))).toEqual(["read", "limit"]);
    expect(names(await build(fn(table()), true))).toEqual(["read->map"]);
  });

  test("a limit does not cut the rows that a function has yet to filter", async () => {
    const built = await build(limit(fn(filter(table(), col("a").gt(1).expression), { form: "filter" }), 0, 3));
    expect(sqlOf(built)).toEqual([`SELECT * FROM {input} WHERE ("a" > 1)`]);
    expect(built.stages[0]).toMatchObject({ maxRowsPerTask: 3 });
  });

  test("[A6] a union of reads is one operator over all their splits", async () => {
    const built = await build(fn(union([filter(table("one"), col("a").gt(1).expression), table("two")])));
    expect(names(built)).toEqual(["read->filter+read->union->map"]);
    expect(built.stages[0]?.input).toEqual({
      kind: "splits",
      splits: [
        { kind: "sql", sql: `(SELECT * FROM t WHERE ("a" > 1))`, files: [] },
        { kind: "sql", sql: "t", files: [] },
      ],
    });
  });

  test("[A6] a union of functions is an operator over theirs", async () => {
    const built = await build(union([fn(table("one")), table("two"), limit(table("three"), 0, 1)]));
    expect(names(built)).toEqual(["read", "limit", "read->map", "read", "union"]);
    expect(built.stages.at(-1)).toMatchObject({ input: { kind: "operators", operators: [2, 3, 1] } });
    const blocksToo = await build(union([filter(blocks(), col("a").gt(1).expression), table()]));
    expect(blocksToo.stages.at(-1)).toMatchObject({ name: "union", input: { kind: "operators", operators: [0, 1] } });
  });

  test("[A6] a sample of n rows is chosen by tasks, then by one", async () => {
    const built = await build(sample(fn(table()), { kind: "rows", rows: 10 }, 1));
    expect(names(built)).toEqual(["read->map", "sample", "sample"]);
    expect(built.stages[1]).toMatchObject({ minRowsPerTask: 1 });
    expect(built.stages[2]).toMatchObject({ place: "worker", input: { kind: "fed", gather: { kind: "whole" } } });
    expect(names(await build(fn(sample(table(), { kind: "rows", rows: 10 }, 1))))).toEqual([
      "read->sample",
      "sample",
      "map",
    ]);
  });

  test("[A6] what follows an exploded column is outside of it", async () => {
    const built = await build(filter(explode(table(), "b"), col("b").eq("x").expression));
    expect(sqlOf(built)).toEqual([
      `SELECT * FROM (SELECT "a", unnest("b") AS "b", "c" FROM {input}) WHERE ("b" = 'x')`,
    ]);
  });
});

test("a job holds the payloads and blocks it uses", async () => {
  const stages = await build(fn(limit(fn(blocks()), 0, 5), { form: "mapBatches" }));
  let next = 100;
  const payloads = new Map<unknown, BlockRef>();
  const spec = jobSpec(stages, {
    id: "j" as JobId,
    sink: { kind: "count" },
    blocks: { kind: "blocks", targetBytes: 10, minBytes: 4 },
    workers: 3,
    resources: { cpu: 3, gpu: 0, memory: 2 ** 30 },
    preserveOrder: true,
    shuffleBytes: 1 << 20,
    maxErroredBlocks: 1,
    maxRetries: 2,
    maxOomRetries: 0,
    learnedOf: () => null,
    appetiteOf: () => null,
    failedBefore: () => false,
    payloadOf(node) {
      const known = payloads.get(node) ?? block(next++);
      payloads.set(node, known);
      return known;
    },
  });
  expect([...spec.holds].sort()).toEqual([100, 101, 7].sort());
  expect(spec.operators.at(-1)).toMatchObject({
    sink: { kind: "count" },
    concurrency: { min: 1, max: 3 },
    maxRetries: 2,
    maxOomRetries: 0,
  });
  expect(spec.operators[0]).toMatchObject({ sink: { kind: "blocks", targetBytes: 10, minBytes: 4 } });
  expect(JSON.parse(JSON.stringify(spec))).toEqual(spec);
});
