/**
 * How relational plans are cut: what is one task, what feeds it, what an exchange is made of, and what it is called.
 */
import { describe, expect, test } from "vitest";
import { col } from "../../src/dataset/index.ts";
import {
  aggregate,
  aggregateOf,
  column,
  distinct,
  filter,
  join,
  limit,
  nothingSkipped,
  optimise,
  type Plan,
  project,
  repartition,
  shuffle,
  sort,
  union,
  zip,
} from "../../src/plan/index.ts";
import { buildStages, describeSql, type Planning, stageLines, type TaskStage } from "../../src/stages/index.ts";
import { columns, fn, openSource, table } from "../plan/fixtures.ts";

const sqlOver = { sql: "t", skipped: nothingSkipped, notes: [] };
const file = (name = "t", bytes: number | null = null) =>
  table(name, openSource(columns, { bytes, whole: async () => ({ sql: name, skipped: nothingSkipped, notes: [] }) }));
const build = (plan: Plan, planning: Partial<Planning> = {}) => buildStages(optimise(plan), false, planning);
const names = async (plan: Plan, planning: Partial<Planning> = {}) =>
  (await build(plan, planning)).stages.map(({ name }) => name);
const by = (input: Plan, name: string) => sort(input, [{ expression: column(name), descending: false, nulls: "last" }]);
const counted = (input: Plan, ...keys: string[]) =>
  aggregate(
    input,
    keys.map((name) => ({ name, expression: column(name) })),
    [{ name: "n", expression: aggregateOf("count", null) }],
  );
const joined = (left: Plan, right: Plan, how: "inner" | "right" | "full" = "inner") =>
  join({ left, right, leftOn: ["a"], rightOn: ["a"], how, suffix: "_right" });
const exchange: Partial<Planning> = { exchange: true, workers: 2, capacity: 2 ** 30 };

async function tasks(plan: Plan, planning: Partial<Planning> = {}): Promise<readonly TaskStage[]> {
  return (await build(plan, planning)).stages.flatMap((stage) => (stage.kind === "tasks" ? [stage] : []));
}
const sqlOf = ({ steps }: TaskStage) => steps.map((step) => (step.kind === "sql" ? step.sql : step.node.form));

describe("one wide task", () => {
  test("[A9] a plan without functions is one query over files", async () => {
    const built = await tasks(
      limit(by(counted(joined(file("x"), filter(file("y"), col("b").eq("q").expression)), "b"), "n"), 0, 5),
    );
    expect(built).toHaveLength(1);
    expect(built[0]).toMatchObject({
      name: "read->filter->join->groupBy->sort->limit",
      place: "wide",
      setsOrder: true,
      input: { kind: "fed", tables: [], gather: { kind: "all" } },
    });
    expect(sqlOf(built[0] as TaskStage)[0]).toMatch(/^SELECT .* ORDER BY "n" ASC NULLS LAST LIMIT 5$/);
  });

  test("[A9] a few megabytes of files are read by a worker, where they cannot become more", async () => {
    const place = async (plan: Plan, capacity = 2 ** 30) => (await tasks(plan, { capacity })).map((task) => task.place);
    const megabytes = (count: number) => file("t", count * 2 ** 20);
    expect(await place(by(megabytes(4), "a"))).toEqual(["worker"]);
    const files = (count: number) =>
      table("t", openSource(columns, { bytes: 0, whole: async () => ({ ...sqlOver, files: Array(count).fill("f") }) }));
    expect(await place(by(files(256), "a"))).toEqual(["worker"]);
    expect(await place(by(files(257), "a"))).toEqual(["wide"]);
    expect(await place(counted(megabytes(4), "a"))).toEqual(["worker"]);
    expect(await place(by(megabytes(4.1), "a"))).toEqual(["wide"]);
    expect(await place(by(file(), "a"))).toEqual(["wide"]);
    // What is read counts, however little comes out.
    expect(await place(counted(megabytes(12.4)))).toEqual(["wide"]);
    expect(await place(limit(by(megabytes(4.1), "a"), 0, 1))).toEqual(["wide"]);
    // A 32nd of the store.
    expect(await place(by(megabytes(2), "a"), 63 * 2 ** 20)).toEqual(["wide"]);
    expect(await place(by(megabytes(2), "a"), 64 * 2 ** 20)).toEqual(["worker"]);
    // All keys may be equal.
    expect(await place(counted(joined(megabytes(3), megabytes(0.25)), "b"))).toEqual(["worker"]);
    expect(await place(counted(joined(megabytes(1), megabytes(1)), "b"))).toEqual(["wide"]);
    // Of a function's rows nobody knows how many there are.
    expect(await place(by(fn(megabytes(1)), "a"))).toEqual(["worker", "wide"]);
  });

  test("[A9] what a function makes is fed to it, with the columns that the SQL needs", async () => {
    const built = await build(by(filter(joined(fn(file()), file("y")), col("c").gt(1).expression), "z"));
    expect(built.stages.map(({ name }) => name)).toEqual(["read->map", "read->join->filter->sort"]);
    expect(built.stages[1]).toMatchObject({
      input: {
        tables: [
          {
            operators: [0],
            columns: [
              { name: "z", type: null },
              { name: "a", type: null },
            ],
          },
        ],
      },
    });
    expect(stageLines(built).at(-1)?.trim()).toBe(
      "stage 2 with stage 1: read->join->filter->sort needs all rows (all-to-all), read->map goes task by task (one-to-one): its blocks are fed to it.",
    );
  });

  test("[R9] a map after it does not fuse into it, and explain says why", async () => {
    const built = await build(fn(by(file(), "a")));
    expect(built.stages.map(({ name }) => name)).toEqual(["read->sort", "map"]);
    expect(stageLines(built).join("\n")).toContain(
      "map(f) goes row by row (one-to-one), read->sort needs all rows (all-to-all) first.",
    );
  });

  test("[A8] an aggregate over a function is cut in two, with projections and conditions before it", async () => {
    const plan = counted(filter(fn(file()), col("a").gt(1).expression), "b");
    const built = await tasks(plan);
    expect(built.map(({ name }) => name)).toEqual(["read->map->filter->partial groupBy", "groupBy"]);
    expect(built[0]?.steps).toHaveLength(2);
    expect(sqlOf(built[0] as TaskStage)[1]).toBe(
      `SELECT "b" AS "__spillway_k0", count(*) AS "__spillway_s0" FROM {input} WHERE ("a" > 1) GROUP BY 1`,
    );
    expect(sqlOf(built[1] as TaskStage)[0]).toContain("FROM {t0}");
    expect(await names(counted(file(), "b"))).toEqual(["read->groupBy"]);
  });

  test("[D6] a limit over parallel work stays a slice that stops its readers; over a sort it is in the SQL", async () => {
    expect(await names(counted(limit(file(), 0, 10), "b"))).toEqual(["read", "limit", "groupBy"]);
    expect(await names(limit(by(fn(file()), "b"), 2, 10))).toEqual(["read->map", "sort->limit"]);
  });

  test("[A6] rows that meet by their places are fed in plan order", async () => {
    const zipped = zip(fn(file()), fn(file("y")), "_right");
    for (const plan of [zipped, counted(zipped), shuffle(fn(file()), 1)]) {
      const last = (await tasks(plan)).at(-1);
      expect(last).toMatchObject({ setsOrder: true });
      expect(last?.input).toMatchObject({ kind: "fed" });
      if (last?.input.kind === "fed") expect(last.input.tables.every(({ ordered }) => ordered === true)).toBe(true);
    }
  });

  test("[A6] a union of files and functions below a group", async () => {
    expect(await names(distinct(union([fn(file()), file("y")]), null))).toEqual(["read->map", "read", "distinct"]);
    expect(await names(distinct(union([file(), file("y")]), null))).toEqual(["read->union->distinct"]);
  });

  test("[A1] types of relational plans are told by typed nulls, whole sums as BIGINT", () => {
    expect(describeSql(counted(file(), "b"))).toContain("regexp_replace(column_type");
    expect(describeSql(file())).toMatch(/^DESCRIBE SELECT/);
  });
});

describe("exchanges", () => {
  test("[A8] groups: partial, scattered by the key, one task a partition", async () => {
    const [map, reduce] = await tasks(filter(counted(fn(file()), "b"), col("n").gt(1).expression), exchange);
    expect(map).toMatchObject({ name: "read->map->partial groupBy->shuffleMap", scatter: 32, place: "worker" });
    expect(reduce).toMatchObject({
      name: "groupBy->filter",
      place: "worker",
      input: { kind: "fed", gather: { kind: "partitions", count: 32, together: { target: 2 ** 27, atLeast: 4 } } },
    });
    expect(sqlOf(map as TaskStage).at(-1)).toContain(`AS "__spillway_partition"`);
    expect(sqlOf(reduce as TaskStage)).toHaveLength(1);
  });

  test("[A8] one row of all stays one task", async () => {
    const [map, reduce] = await tasks(counted(file()), exchange);
    expect(map).toMatchObject({ name: "read->partial aggregate", scatter: null });
    expect(reduce).toMatchObject({ name: "aggregate", place: "wide", input: { gather: { kind: "all" } } });
  });

  test("[A9] a sort looks at some keys first, and what files hold is read again", async () => {
    const built = await tasks(by(file(), "b"), exchange);
    expect(built.map(({ name }) => name)).toEqual(["read->sample keys", "sort bounds", "read->shuffleMap", "sort"]);
    expect(built[2]).toMatchObject({ scatter: 32, broadcast: [{ operators: [1] }], input: { kind: "splits" } });
    expect(built[3]).toMatchObject({ setsOrder: true });
    // A task that is fed while its producers run would hold a worker that they may need.
    expect(built[1]).toMatchObject({ place: "worker", input: { kind: "fed", gather: { kind: "whole" } } });
    const made = await tasks(by(fn(file()), "b"), exchange);
    expect(made.map(({ name }) => name)).toEqual(["read->map", "sample keys", "sort bounds", "shuffleMap", "sort"]);
    expect(made[3]).toMatchObject({ input: { kind: "operators", operators: [0] } });
  });

  test("[A9] a small side of a join is given to every task, but not where its own rows must all come out once", async () => {
    const small = file("small", 1000);
    const large = file("large", 2 ** 32);
    const broadcast = await tasks(joined(large, small), exchange);
    expect(broadcast.map(({ name }) => name)).toEqual(["read", "read->broadcast join"]);
    expect(broadcast[1]).toMatchObject({ broadcast: [{ operators: [0] }], input: { kind: "splits" } });
    expect(await names(joined(small, large), exchange)).toEqual(["read", "read->broadcast join"]);
    expect(await names(joined(small, large, "right"), exchange)).toEqual(["read", "read->broadcast join"]);
    for (const plan of [joined(large, small, "right"), joined(large, small, "full"), joined(large, large)]) {
      expect(await names(plan, exchange)).toEqual(["read->shuffleMap", "read->shuffleMap", "join"]);
    }
    expect(await names(joined(large, small), { ...exchange, capacity: 8000 })).toContain("join");
  });

  test("[A9] partitions by estimated bytes", async () => {
    const scatter = async (bytes: number | null, planning: Partial<Planning> = {}) =>
      (await tasks(distinct(file("t", bytes), null), { ...exchange, scattered: 2 ** 29, ...planning }))[0]?.scatter;
    expect(await scatter(null)).toBe(32);
    expect(await scatter(1)).toBe(4);
    expect(await scatter(100 * 128 * 2 ** 20)).toBe(100);
    expect(await scatter(100 * 128 * 2 ** 20, { workerKernel: 128 * 2 ** 20 })).toBe(400);
    // The scattering task has no room for useful blocks of more.
    expect(await scatter(2 ** 50)).toBe(8192);
  });

  test("[A8] mapGroups is one wherever it stands, and what is before it fuses into it", async () => {
    const options = { batchSize: 1, batchFormat: "rows", maxInFlight: 1, onError: "fail", keys: ["b"] } as const;
    const groups = (input: Plan) => fn(input, { form: "mapGroups", options });
    const [map, reduce] = await tasks(groups(fn(file())), { workers: 2 });
    expect(map).toMatchObject({ name: "read->map->shuffleMap", scatter: 64 });
    expect(reduce).toMatchObject({ name: "mapGroups", place: "worker" });
    expect(sqlOf(reduce as TaskStage)).toEqual([`SELECT * FROM {t0} ORDER BY "b"`, "mapGroups"]);
    expect(await names(groups(counted(file(), "b")), { workers: 2 })).toEqual([
      "read->groupBy->shuffleMap",
      "mapGroups",
    ]);
  });

  test("[A9] repartition by number, rows, bytes and keys", async () => {
    const [, parts] = await tasks(repartition(file(), { kind: "parts", count: 3 }));
    expect(parts).toMatchObject({ name: "repartition", steps: [], input: { gather: { kind: "parts", count: 3 } } });
    const [, rows] = await tasks(repartition(file(), { kind: "rows", rows: 30 }));
    expect(rows).toMatchObject({ input: { gather: { kind: "rows", rows: 30 } } });
    const [, bytes] = await tasks(repartition(file(), { kind: "bytes", bytes: 1000 }));
    expect(bytes).toMatchObject({ place: "wide", blockSize: { targetBytes: 1000, minBytes: 1000 } });
    const [map, keys] = await tasks(repartition(file(), { kind: "keys", keys: ["b"], count: 3 }));
    expect(map).toMatchObject({ name: "read->shuffleMap", scatter: 3 });
    expect(keys).toMatchObject({ steps: [], input: { gather: { kind: "partitions", count: 3 } } });
  });

  test("[A9] SQL over a repartition starts from its partitions", async () => {
    const plan = project(
      repartition(file(), { kind: "parts", count: 3 }),
      "with",
      [{ name: "d", expression: column("a") }],
      "withColumn",
    );
    expect(await names(plan)).toEqual(["read", "repartition", "withColumn"]);
  });
});
