/** Tasks whose input comes while they run. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RecordBatch, typeName } from "../../src/arrow/index.ts";
import { CancelledError, KernelError, RowShapeError } from "../../src/errors/index.ts";
import type { TaskOrder, WorkerId, WorkerOperator } from "../../src/protocol/index.ts";
import { LeasedKernel } from "../../src/worker/leased-kernel.ts";
import { columns, operatorOf, rows, sqlStep, TestTask, taskOf } from "./task-bench.ts";

describe.each([1, 2])("a kernel with a lease of %i threads", (threads) => {
  const directory = mkdtempSync(join(tmpdir(), "fed-task-"));
  const kernel = new LeasedKernel();
  beforeAll(async () => {
    kernel.spillBelow(directory, 7 as WorkerId);
    await kernel.take({ threads, memory: 512 << 20 });
  });
  afterAll(() => {
    kernel.close();
    rmSync(directory, { recursive: true });
  });

  const fed = (count: number, more: Partial<TaskOrder> = {}): TaskOrder =>
    taskOf({ kind: "fed", tables: Array.from({ length: count }, () => []) }, more);
  const make = (sql: string, task: TaskOrder, more: Partial<WorkerOperator> = {}) =>
    new TestTask(kernel, operatorOf([sqlStep(sql)], more), task);
  const tablesLeft = () => kernel.connection.all("SELECT table_name FROM duckdb_tables()");

  test("blocks become tables in the order they came, and are no longer needed once they are read", async () => {
    const task = make("SELECT * FROM {t0}", fed(1));
    for (let i = 0; i < 20; i++) {
      task.feed(
        0,
        columns({ id: Int32Array.from({ length: 100 }, (_, j) => i * 100 + j), text: Array(100).fill(`t${i}`) }),
      );
    }
    const report = await task.finish();
    expect(report.rowsIn).toBe(2000);
    expect(task.outlet.fedMessages).toBe(20);
    expect(task.rows.map(({ id }) => id)).toEqual(Array.from({ length: 2000 }, (_, i) => i));
    expect(task.rows[1950]).toEqual({ id: 1950, text: "t19" });
    expect(tablesLeft()).toEqual([]);
  });

  test("[A9] several tables, in any order, joined", async () => {
    const task = make("SELECT l.id, r.name FROM {t0} l JOIN {t1} r USING (id) ORDER BY id", fed(2));
    task.feed(1, rows({ id: 2, name: "two" }));
    task.feed(0, rows({ id: 1 }, { id: 2 }), rows({ id: 3 }));
    task.feed(1, rows({ id: 3, name: "three" }));
    await task.finish();
    expect(task.rows).toEqual([
      { id: 2, name: "two" },
      { id: 3, name: "three" },
    ]);
  });

  test("feeds that come while it runs are answered one by one", async () => {
    const task = make("SELECT count(*) AS n FROM {t0}", fed(1));
    const answered: number[] = [];
    const report = task.running.run();
    for (let i = 0; i < 3; i++) {
      const read = new Promise<void>((resolve) => {
        task.outlet.onFed = resolve;
      });
      task.running.feed({ table: 0, slices: [task.outlet.place(rows({ i }, { i }))] });
      await read;
      answered.push(task.outlet.fedMessages);
    }
    task.running.feedEnd();
    await report;
    expect(answered).toEqual([1, 2, 3]);
    expect(task.rows).toEqual([{ n: 6 }]);
  });

  test("later blocks may order columns otherwise, have values where there were nulls, and wider numbers", async () => {
    const task = make("SELECT * FROM {t0} ORDER BY id", fed(1));
    task.feed(0, columns({ id: Int32Array.of(1), n: Int32Array.of(1), late: [null], deep: [[null]] }));
    task.feed(0, columns({ late: ["now"], n: Float64Array.of(1.5), id: Int32Array.of(2), deep: [[{ order: 1 }]] }));
    task.feed(0, columns({ id: BigInt64Array.of(2n ** 40n), n: Int32Array.of(3), late: [null], deep: [null] }));
    await task.finish();
    expect(task.rows).toEqual([
      { id: 1, n: 1, late: null, deep: [null] },
      { id: 2, n: 1.5, late: "now", deep: [{ order: 1 }] },
      { id: 2 ** 40, n: 3, late: null, deep: null },
    ]);
  });

  test("types that nothing holds both of are an error that names the column and both", async () => {
    const task = make("SELECT * FROM {t0}", fed(1));
    task.feed(0, rows({ id: 1, what: "text" }));
    task.feed(0, rows({ id: 1, what: 5 }));
    const failed = await task.finish().catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(RowShapeError);
    expect(failed).toMatchObject({ column: "what" });
    expect(String(failed)).toMatch(/VARCHAR.*DOUBLE/s);
    expect(tablesLeft()).toEqual([]);
  });

  test("a table that no block came for has its declared columns, and nulls of no type stay such", async () => {
    const input = {
      kind: "fed",
      tables: [
        [
          { name: "a", type: "VARCHAR" },
          { name: "b", type: null },
        ],
      ],
    } as const;
    const task = make("SELECT count(*) AS n, max(a) AS a, max(b) AS b FROM {t0}", taskOf(input));
    await task.finish();
    expect(task.rows).toEqual([{ n: 0, a: null, b: null }]);
    expect(types(task.outlet.batches[0])).toEqual(["BIGINT", "VARCHAR", "NULL"]);
  });

  test("a column of nulls alone gets the declared type", async () => {
    const input = {
      kind: "fed",
      tables: [
        [
          { name: "a", type: "DATE" },
          { name: "b", type: null },
        ],
      ],
    } as const;
    const task = make("SELECT * FROM {t0}", taskOf(input));
    task.feed(0, columns({ b: [null], a: [null] }));
    await task.finish();
    expect(types(task.outlet.batches[0])).toEqual(["DATE", "NULL"]);
  });

  test("without tables the SQL runs at the end of the feed", async () => {
    const task = make("SELECT range AS i FROM range(5)", fed(0));
    await task.finish();
    expect(task.rows.length).toBe(5);
  });

  test("sums leave as BIGINT, in blocks and in files, or not at all", async () => {
    const sql =
      "SELECT sum(range) AS s, list(sum) AS l FROM (SELECT range, sum(range) AS sum FROM range(5) GROUP BY range)";
    const blocks = make(sql, fed(0));
    await blocks.finish();
    expect(types(blocks.outlet.batches[0])).toEqual(["BIGINT", "BIGINT[]"]);
    const staging = join(directory, "sums");
    const sink = {
      kind: "files",
      format: "parquet",
      staging,
      directory: staging,
      mode: "error",
      partitionBy: [],
      maxRowsPerFile: null,
      targetFileSize: null,
      compression: null,
      heldBytes: 1 << 20,
    } as const;
    const files = make(sql, fed(0), { sink });
    const report = await files.finish();
    expect(report.files.length).toBe(1);
    const path = join(staging, report.files[0]?.path ?? "");
    expect(kernel.connection.describe(`FROM '${path}'`).fields.map(({ type }) => typeName(type))).toEqual([
      "BIGINT",
      "BIGINT[]",
    ]);
    const large = make("SELECT sum(9223372036854775807) AS much FROM range(3)", fed(0));
    await expect(large.finish()).rejects.toThrow(/column "much" is 27670116110564327421, which does not fit a BIGINT/);
  });

  test("files that the kernel cannot write alone", async () => {
    const staging = join(directory, "pieces");
    const sink = {
      kind: "files",
      format: "parquet",
      staging,
      directory: staging,
      mode: "error",
      partitionBy: [],
      maxRowsPerFile: 400,
      targetFileSize: null,
      compression: null,
      heldBytes: 1 << 20,
    } as const;
    const task = make("SELECT * FROM {t0} ORDER BY id DESC", fed(1), { sink });
    task.feed(0, columns({ id: Int32Array.from({ length: 1000 }, (_, i) => i) }));
    const report = await task.finish();
    expect(report.files.map((file) => file.rows)).toEqual([400, 400, 200]);
  });

  test("a count is made by the kernel", async () => {
    const task = make("SELECT * FROM {t0} WHERE id % 2 = 0", fed(1), { sink: { kind: "count" } });
    task.feed(0, columns({ id: Int32Array.from({ length: 1000 }, (_, i) => i) }));
    expect((await task.finish()).rowsOut).toBe(500);
  });

  test("without SQL the rows go through the steps as they come", async () => {
    const task = new TestTask(
      kernel,
      operatorOf([], { sink: { kind: "blocks", targetBytes: 4096, minBytes: 100 } }),
      fed(1),
    );
    const numbers = Int32Array.from({ length: 5000 }, (_, i) => i);
    for (let i = 0; i < 5; i++) task.feed(0, columns({ id: numbers.subarray(i * 1000, i * 1000 + 1000) }));
    let answeredBeforeLast = 0;
    task.outlet.onReserve = () => {
      answeredBeforeLast ||= task.outlet.fedMessages;
    };
    await task.finish();
    expect(task.outlet.fedMessages).toBe(5);
    expect(answeredBeforeLast).toBeLessThan(2);
    expect(task.outlet.column("id")).toEqual([...numbers]);
  });

  test("a cancel ends it while it waits, ingests or runs, and leaves no table", async () => {
    const waiting = make("SELECT * FROM {t0}", fed(1));
    const first = waiting.running.run();
    const read = new Promise<void>((resolve) => {
      waiting.outlet.onFed = resolve;
    });
    waiting.running.feed({ table: 0, slices: [waiting.outlet.place(rows({ a: 1 }))] });
    await read;
    waiting.running.cancel();
    await expect(first).rejects.toThrow(CancelledError);
    expect(tablesLeft()).toEqual([]);

    const ingesting = make("SELECT * FROM {t0}", fed(1));
    ingesting.feed(0, columns({ id: new Int32Array(2_000_000) }));
    const second = ingesting.running.run();
    setImmediate(() => ingesting.running.cancel());
    await expect(second).rejects.toThrow(CancelledError);
    expect(ingesting.outlet.fedMessages).toBe(0);
    expect(tablesLeft()).toEqual([]);

    const running = make("SELECT count(*) AS n FROM {t0} a, range(1000000000000) b WHERE a.id + b.range = 5", fed(1));
    const third = running.running.run();
    const ingested = new Promise<void>((resolve) => {
      running.outlet.onFed = resolve;
    });
    running.running.feed({ table: 0, slices: [running.outlet.place(rows({ id: 1 }))] });
    await ingested;
    running.running.feedEnd();
    await new Promise((resolve) => setImmediate(resolve));
    const started = performance.now();
    running.running.cancel();
    await expect(third).rejects.toThrow(CancelledError);
    // It would have gone on for hours.
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(tablesLeft()).toEqual([]);
  });

  test("[A9] broadcast tables stand in the SQL, are stored once an operator, and go with it", async () => {
    const operator = operatorOf(
      [sqlStep("SELECT i.range AS id, b.name FROM {input} i JOIN {b0} b ON b.id = i.range ORDER BY id")],
      {
        broadcast: [{ operators: [], columns: [] }],
      },
    );
    const task = new TestTask(kernel, operator, taskOf({ kind: "sql", sql: "range(0, 4)", files: [] }));
    const slices = [task.outlet.place(rows({ id: 1, name: "one" })), task.outlet.place(rows({ id: 3, name: "three" }))];
    const again = new TestTask(
      kernel,
      operator,
      taskOf({ kind: "sql", sql: "range(0, 4)", files: [] }, { broadcast: [slices] }),
    );
    const slices2 = [
      again.outlet.place(rows({ id: 1, name: "one" })),
      again.outlet.place(rows({ id: 3, name: "three" })),
    ];
    expect(slices2).toEqual(slices);
    await again.finish();
    expect(again.rows).toEqual([
      { id: 1, name: "one" },
      { id: 3, name: "three" },
    ]);
    expect(tablesLeft().length).toBe(1);
    await again.operator.dispose(() => {});
    expect(tablesLeft()).toEqual([]);
  });

  test("an unknown column in the SQL is told by name, and the tables go", async () => {
    const task = make("SELECT nope FROM {t0}", fed(1));
    task.feed(0, rows({ id: 1 }));
    await expect(task.finish()).rejects.toThrow(/nope/);
    await expect(make("SELECT 1 +", fed(0)).finish()).rejects.toThrow(KernelError);
    expect(tablesLeft()).toEqual([]);
  });
});

function types(batch: RecordBatch | undefined): string[] {
  return batch?.schema.fields.map(({ type }) => typeName(type)) ?? [];
}
