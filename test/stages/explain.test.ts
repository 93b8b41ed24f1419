/** What explain says of stages: estimates, where they run, where fusion stopped and why; and the flowchart of them. */
import { describe, expect, test } from "vitest";
import { col, count } from "../../src/dataset/index.ts";
import {
  aggregate,
  distinct,
  explode,
  filter,
  join,
  limit,
  nothingSkipped,
  type OpenSource,
  optimise,
  type Plan,
  project,
  repartition,
  sample,
  sort,
  union,
} from "../../src/plan/index.ts";
import { buildStages, estimatesOf, type Planning, stageChart, stageLines } from "../../src/stages/index.ts";
import { columns, fn, openSource, table } from "../plan/fixtures.ts";
import { readFlowchart } from "../support/flowchart.ts";

const explain = async (plan: Plan, planning: Partial<Planning> = {}) => {
  const stages = await buildStages(optimise(plan), false, planning);
  const known = { estimates: await estimatesOf(stages), ran: new Map() };
  const text = stageLines(stages, known).join("\n");
  const names = stages.stages.map(({ name }) => name);
  return { text, names, chart: readFlowchart(stageChart(stages, known)) };
};

/** 1,000 rows of three columns, 12,000 bytes, in two tasks. */
const known = (name = "t", more: Partial<OpenSource> = {}) =>
  table(
    name,
    openSource(columns, {
      bytes: 12_000,
      countRows: async () => 1000,
      splits: async () => ({
        splits: [
          { kind: "sql", sql: "a", files: [], rows: 400 },
          { kind: "sql", sql: "b", files: [], rows: 600 },
        ],
        skipped: nothingSkipped,
        notes: [],
      }),
      ...more,
    }),
  );
const whole = (name = "t", more: Partial<OpenSource> = {}) =>
  known(name, { ...more, whole: async () => ({ sql: "w", skipped: nothingSkipped, notes: [] }) });
const above = col("a").gt(1).expression;
const byA = [{ expression: col("a").expression, descending: false, nulls: "last" as const }];
const named = (name: string) => ({ name, expression: col(name).expression });
const counted = [{ name: "n", expression: count().expression }];
const joined = (left: Plan, right: Plan, how: "inner" | "semi") =>
  join({ left, right, how, leftOn: ["a"], rightOn: ["a"], suffix: "_" });
const estimates = (text: string) => [...text.matchAll(/estimated: (.*)/g)].map((match) => match[1]);

describe("[O7] estimates", () => {
  test("[O7] a read tells its rows and bytes, of the columns that are wanted", async () => {
    const { text } = await explain(project(known(), "select", [named("a")], "select"));
    expect(text).toContain("Stage 1 read: 2 tasks\n  runs in the workers\n");
    expect(text).toContain("reads read t (1 of 3 columns): 1,000 rows, about 3.9 KiB");
    expect(estimates(text)).toEqual(["1,000 rows, about 3.9 KiB"]);
  });

  test.each<[string, Plan, string]>([
    ["a condition", filter(known(), above), "at most 1,000 rows, at most 11.7 KiB"],
    ["a function", fn(known()), "1,000 rows, unknown bytes"],
    ["a function that filters", fn(known(), { form: "filter" }), "at most 1,000 rows, at most 11.7 KiB"],
    ["a function over batches", fn(known(), { form: "mapBatches" }), "unknown"],
    ["lists", explode(known(), "a"), "unknown"],
    ["a limit", limit(known(), 0, 10), "10 rows, about 120 B"],
    ["a limit beyond the end", limit(known(), 995, 10), "5 rows, about 60 B"],
    ["a limit over the unknown", limit(fn(known(), { form: "flatMap" }), 0, 10), "at most 10 rows, unknown bytes"],
    ["a sample", sample(known(), { kind: "fraction", fraction: 0.25 }, 1), "about 250 rows, about 2.9 KiB"],
    ["a sample of n rows", sample(known(), { kind: "rows", rows: 10 }, 1), "10 rows, about 120 B"],
    ["a union", union([known(), known("u")]), "2,000 rows, about 23.4 KiB"],
    ["a union with the unknown", union([known(), table()]), "unknown"],
    ["a sort", sort(known(), byA), "1,000 rows, about 11.7 KiB"],
    ["groups", aggregate(known(), [named("b")], counted), "at most 1,000 rows, at most 7.8 KiB"],
    ["one row of all", aggregate(known(), [], counted), "1 row, unknown bytes"],
    ["distinct rows", distinct(known(), null), "at most 1,000 rows, at most 11.7 KiB"],
    ["a semi join", joined(known(), known("u"), "semi"), "at most 1,000 rows, at most 11.7 KiB"],
    ["a join", joined(known(), known("u"), "inner"), "unknown"],
    ["a source that does not say", table(), "unknown"],
  ])("[O7] of %s", async (_, plan, expected) => {
    for (const exchange of [false, true])
      expect(estimates((await explain(plan, { exchange })).text).at(-1)).toBe(expected);
  });

  test("[O7] row groups that statistics leave out are left out of the estimate", async () => {
    const few = { sql: "w", rows: 200, skipped: { ...nothingSkipped, rows: 800, rowGroups: 4 }, notes: [] };
    const { text } = await explain(sort(filter(known("t", { whole: async () => few }), above), byA));
    expect(text).toContain("reads read t: 200 rows, about 2.3 KiB");
    expect(text).toContain("skipped: 0 files, 4 row groups, 800 rows, 0 columns");
    expect(estimates(text)).toEqual(["at most 200 rows, at most 2.3 KiB"]);
  });

  test("[O7] they are shown, and decide nothing: the stages are the same whatever the metadata count", async () => {
    const built = async (rows: number) => {
      const counts = { countRows: async () => rows };
      const plan = sort(joined(fn(known("t", counts)), known("u", counts), "inner"), byA);
      const { stages } = await buildStages(optimise(plan), false, { exchange: true });
      return JSON.stringify(stages, (key, value) => (key === "reads" || key === "makes" ? undefined : value));
    };
    expect(await built(1)).toBe(await built(1e12));
  });
});

describe("[R9] where fusion stops, and why", () => {
  test("[R9] reads fuse with the maps after them: no stop to tell of", async () => {
    const { names, text } = await explain(fn(fn(filter(known(), above)), { form: "flatMap" }));
    expect(names).toEqual(["read->filter->map->flatMap"]);
    expect(text).not.toContain("Not fused");
  });

  test("[R9] maps fuse into the shuffle after them, never into the one before", async () => {
    const plan = fn(sort(fn(known()), byA), { name: "after" });
    const { names, text } = await explain(plan, { exchange: true });
    expect(names).toEqual(["read->map", "sample keys", "sort bounds", "shuffleMap", "sort", "map"]);
    expect(text).toContain("stage 2 with stage 1: read->map has 2 readers.");
    expect(text).toContain(
      "stage 6 with stage 5: map(after) goes row by row (one-to-one), sort needs all rows (all-to-all) first.",
    );
    const groups = aggregate(fn(known()), [named("a")], counted);
    expect((await explain(fn(groups), { exchange: true })).names).toEqual([
      "read->map->partial groupBy->shuffleMap",
      "groupBy",
      "map",
    ]);
    expect((await explain(fn(groups))).names).toEqual(["read->map->partial groupBy", "groupBy", "map"]);
  });

  test("[R9] what looks at all rows is apart from what goes row by row", async () => {
    const { names, text } = await explain(fn(sort(fn(known()), byA)));
    expect(names).toEqual(["read->map", "sort", "map"]);
    expect(text).toContain(
      "Stage 2 sort: one task over stage 1\n  runs in the wide kernel (a process with all threads)",
    );
    expect(text).toContain("{t0} is the rows of stage 1, fed as they come");
    expect(text).toContain(
      "stage 2 with stage 1: sort needs all rows (all-to-all), read->map goes task by task (one-to-one): its blocks are fed to it.",
    );
    expect(text).toContain("stage 3 with stage 2: map(f) goes row by row (one-to-one), sort needs all rows");
  });

  test("[R9] classes and functions, and functions with other resources, are apart", async () => {
    const model = fn(fn(known()), { form: "mapBatches", isClass: true, name: "Model" });
    const { text } = await explain(model);
    expect(text).toContain("stage 2 with stage 1: mapBatches(Model) is a class function, map(f) a plain one");
    const back = await explain(fn(model, { name: "g" }));
    expect(back.names).toEqual(["read->map", "mapBatches", "map"]);
    expect(back.text).toContain("stage 3 with stage 2: map(g) is a plain function, mapBatches(Model) a class");
    const request = { cpu: 2, gpu: 0, memory: 0 };
    expect((await explain(fn(fn(known()), { request }))).text).toContain(
      "stage 2 with stage 1: map(f) needs 2 CPU, read->map 1 CPU.",
    );
    expect((await explain(fn(fn(known(), { request }), { request }))).names).toEqual(["read", "map->map"]);
  });

  test("[R9] limits, repartitions, unions and samples say why they are apart", async () => {
    const limited = await explain(fn(limit(known(), 0, 5)));
    expect(limited.text).toContain("stage 2 with stage 1: limit counts the rows of all tasks of read.");
    expect(limited.text).toContain("stage 3 with stage 2: map starts from the rows that the limit lets through.");
    const parts = await explain(fn(repartition(known(), { kind: "parts", count: 3 })));
    expect(parts.text).toContain("repartition puts all rows (all-to-all) of read into other partitions.");
    const both = await explain(fn(union([fn(known()), known("u")])));
    expect(both.text).toContain("union->map takes the rows of 2 stages.");
    const some = await explain(sample(fn(known()), { kind: "rows", rows: 3 }, 1));
    expect(some.text).toContain("sample looks at all rows of a task at once, functions of read->map hand them on");
    expect(some.text).toContain("sample is one task over what all tasks of");
  });

  test("[R9] a side that is given to every task is told", async () => {
    const plan = joined(fn(known()), whole("small"), "inner");
    const { text } = await explain(plan, { exchange: true, capacity: 2 ** 30 });
    expect(text).toContain("{b0} is all rows of stage 1, broadcast to every task");
    expect(text).toContain("broadcast join has all rows of read in every task.");
    expect(text).toContain("stage 3 with stage 2: what is broadcast to broadcast join is there for the first SQL");
  });
});

describe("[O7] as a flowchart", () => {
  test("[O7] stages, what they read, and what flows between them", async () => {
    const { chart } = await explain(fn(aggregate(fn(known()), [named("a")], counted)), { exchange: true, workers: 1 });
    expect([...chart.nodes]).toEqual([
      ["s1r1", "read t\n1,000 rows, about 11.7 KiB"],
      [
        "s1",
        "Stage 1 read->map->partial groupBy->shuffleMap\nin the workers\nestimated at most 1,000 rows, unknown bytes",
      ],
      ["s2", "Stage 2 groupBy\nin the workers\nestimated at most 1,000 rows, unknown bytes"],
      ["s3", "Stage 3 map\nin the workers\nestimated at most 1,000 rows, unknown bytes"],
    ]);
    expect(chart.arrows).toEqual([
      { from: "s1r1", to: "s1", kind: "-->", label: "2 tasks" },
      { from: "s1", to: "s2", kind: "==>", label: "64 partitions" },
      { from: "s2", to: "s3", kind: "-->", label: "blocks" },
    ]);
  });

  test("[O7] one query reads its files itself; a broadcast is an arrow of its own", async () => {
    const one = await explain(sort(whole("t", { bytes: 2 ** 30 }), byA));
    expect(one.chart.nodes.get("s1")).toContain("in the wide kernel");
    expect(one.chart.arrows).toEqual([{ from: "s1r1", to: "s1", kind: "-->", label: "one query" }]);
    const plan = joined(fn(known()), known("small"), "inner");
    const two = await explain(plan, { exchange: true });
    expect(two.chart.arrows).toContainEqual({ from: "s1", to: "s3", kind: "-.->", label: "broadcast" });
  });

  test.each([
    `"quoted" 'path' #quot; &amp; <b>bold</b> <br/>`,
    "end\n  s1 --> s9\r\nclassDef x fill:#f00;",
    "`**marked**` fa:fa-car style a:b#c; %% comment",
    "[(|{]})>;--> 日本語 🦆 \u0000 \ud800",
    "1. a list",
  ])("[O7] no text can break it: %j", async (path) => {
    const { chart } = await explain(sort(fn(known(path)), byA));
    expect(chart.nodes.get("s1r1")?.split("\n1,000 rows")[0]).toBe(`read ${path.replace("\ud800", "\ufffd")}`);
    expect(chart.nodes.size).toBe(3);
  });
});
