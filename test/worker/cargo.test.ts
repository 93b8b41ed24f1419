/** Cargo by reference: the same rows as without it, whatever the SQL, the types and the nulls. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";

vi.hoisted(() => {
  process.env.SPILLWAY_TEST_CARGO_BORDER = "0";
  // 64 different hashes: most values share theirs with others.
  process.env.SPILLWAY_TEST_CARGO_HASH_BITS = "6";
});

import { type RecordBatch, typeName } from "../../src/arrow/index.ts";
import { CancelledError } from "../../src/errors/index.ts";
import type { SeenColumns, WorkerId, WorkerOperator } from "../../src/protocol/index.ts";
import { LeasedKernel } from "../../src/worker/leased-kernel.ts";
import { columns, operatorOf, rows, sqlStep, TestTask, taskOf } from "./task-bench.ts";

type Sees = readonly string[] | Partial<SeenColumns>;

const seenColumns = (sees: Sees | null): SeenColumns | null =>
  sees === null ? null : { matched: [], ordered: [], ...("length" in sees ? { read: sees } : { read: [], ...sees }) };

interface Feeding {
  readonly table: number;
  readonly batch: RecordBatch;
}

describe.each([
  ["in memory", 64 << 20],
  ["mostly on disk", 20 << 20],
])("cargo %s", (where, memory) => {
  const directory = mkdtempSync(join(tmpdir(), "cargo-"));
  const kernel = new LeasedKernel();
  beforeAll(async () => {
    kernel.spillBelow(directory, 7 as WorkerId);
  });
  afterAll(() => {
    kernel.close();
    rmSync(directory, { recursive: true });
  });

  async function ran(
    sql: string,
    feeding: readonly Feeding[],
    sees: readonly (Sees | null)[],
    more: Partial<WorkerOperator> = {},
  ) {
    const isOrdinary = sees.every((each) => each === null);
    await kernel.take({ threads: 2, memory: isOrdinary ? 256 << 20 : memory });
    const tables = sees.map(() => []);
    const task = new TestTask(
      kernel,
      operatorOf([sqlStep(sql)], more),
      taskOf({ kind: "fed", tables, sees: sees.map(seenColumns) }),
    );
    for (const { table, batch } of feeding) task.feed(table, batch);
    const report = await task.finish();
    expect(kernel.connection.all("SELECT table_name FROM duckdb_tables()")).toEqual([]);
    const types = task.outlet.batches[0]?.schema.fields.map(({ name, type }) => [name, typeName(type)]);
    return { rows: task.rows, types, report };
  }

  /** The rows and types of both ways. */
  async function both(sql: string, feeding: readonly Feeding[], sees: readonly Sees[]) {
    const ordinary = await ran(
      sql,
      feeding,
      sees.map(() => null),
    );
    const referring = await ran(sql, feeding, sees);
    expect(ordinary.report.byReference).toBeUndefined();
    expect(referring.types).toEqual(ordinary.types);
    expect(told(referring.rows)).toEqual(told(ordinary.rows));
    return referring;
  }

  /** Texts of up to a few kilobytes, lists, fixed lists, structs, maps, bytes, and nulls in all of them. */
  function wide(from: number, count: number): RecordBatch {
    const ids = Array.from({ length: count }, (_, i) => from + i);
    const some = <Value>(value: (id: number) => Value) => ids.map((id) => (id % 7 === 3 ? null : value(id)));
    return rows(
      ...ids.map((id, i) => ({
        id: (id * 7919) % 1009,
        text: some((each) => `${each}-`.repeat(each % 1500))[i],
        bytes: some((each) => Buffer.alloc((each * 7) % 12_000, each % 251))[i],
        list: some((each) => Array.from({ length: each % 5 }, (_, j) => (j === 2 ? null : each + j)))[i],
        deep: some((each) => ({ a: `a${each}`, b: [each, null], c: each % 2 === 0 ? null : { d: `d${each}` } }))[i],
      })),
    );
  }

  const feed = (table: number, ...batches: readonly RecordBatch[]): Feeding[] =>
    batches.map((batch) => ({ table, batch }));
  const three = feed(0, wide(0, 700), wide(700, 1), wide(701, 1500));

  test("[D1] rows are sorted by columns that the SQL sees", async () => {
    const { report } = await both("SELECT * FROM {t0} ORDER BY id", three, [["id"]]);
    expect(report.byReference).toMatchObject({ rows: 2201 });
    if (where === "mostly on disk") expect(report.byReference?.bytes).toBeGreaterThan(memory / 2);
  });

  test("[D1] rows are taken apart, renamed, limited and left out", async () => {
    await both('SELECT * EXCLUDE (list) RENAME (text AS "Text 2") FROM {t0} ORDER BY id LIMIT 77 OFFSET 5', three, [
      ["id"],
    ]);
    await both("SELECT bytes, id, text AS a, text AS b FROM {t0} WHERE id > 500 ORDER BY id", three, [["id"]]);
    await both("SELECT * FROM {t0} WHERE COLUMNS(*) IS NOT NULL ORDER BY id", three, [["id"]]);
    await both("SELECT * FROM {t0} WHERE text IS NULL ORDER BY id", three, [["id"]]);
    await both("SELECT count(*) AS n FROM {t0}", three, [[]]);
  });

  test.each(["INNER", "LEFT", "RIGHT", "FULL"])("[A9] a %s join gives nulls for sides without a row", async (kind) => {
    const right = feed(
      1,
      rows(...Array.from({ length: 900 }, (_, i) => ({ id: i * 3, label: `label ${i}`.repeat(i % 90) }))),
    );
    await both(
      `SELECT l.*, r.label, r.id AS other FROM {t0} l ${kind} JOIN {t1} r ON l.id = r.id ORDER BY ALL`.replace(
        "ALL",
        "l.id, r.id",
      ),
      [...three, ...right],
      [["id"], ["id"]],
    );
  });

  test("[A9] an empty side has its nulls, and no rows at all have no cargo", async () => {
    const types = "SELECT l.*, r.* FROM {t0} l LEFT JOIN {t1} r ON l.id = r.__spillway_nothing ORDER BY l.id";
    const { rows: found } = await ran(types, three, [["id"], []]);
    expect(found).toHaveLength(2201);
  });

  test("[A9] distinct on columns keeps a whole row", async () => {
    const sql = "SELECT * FROM (SELECT DISTINCT ON (id) * FROM {t0}) ORDER BY id";
    const { rows: found } = await ran(sql, three, [["id"]]);
    expect(found).toHaveLength(1009);
    const wholeRows = new Map<string, Record<string, unknown>[]>();
    for (const row of (await ran("SELECT * FROM {t0}", three, [null])).rows) {
      wholeRows.set(String(row.id), [...(wholeRows.get(String(row.id)) ?? []), row]);
    }
    for (const row of found) expect(wholeRows.get(String(row.id))).toContainEqual(row);
  });

  test("[D1] a column that was null gets its type, and one that changes its type goes back to the kernel", async () => {
    const batches = feed(
      0,
      rows({ id: 3, text: null, list: null }, { id: 1, text: null, list: null }),
      rows({ id: 2, text: "two", list: [1, 2] }),
      columns({ id: [5, 4], list: [[1.5], null], text: [null, "four"] }),
      rows({ id: 6, text: "six", list: [7] }),
    );
    const { rows: found } = await both("SELECT * FROM {t0} ORDER BY id", batches, [["id"]]);
    expect(found.map(({ list }) => list)).toEqual([null, [1, 2], null, null, [1.5], [7]].slice(0, 6));
  });

  test("[A9] a row larger than a piece, and than a chunk, comes back whole", async () => {
    const sizes = [0, 1, 9 << 20, 100, 5 << 20, 300_000];
    const batches = feed(0, rows(...sizes.map((size, id) => ({ id: -id, data: Buffer.alloc(size, id + 1) }))));
    const task = await ran("SELECT * FROM {t0} ORDER BY id", batches, [["id"]], {
      sink: { kind: "blocks", targetBytes: 16 << 20, minBytes: 1 << 10 },
    });
    expect(task.rows.map(({ data }) => (data as Uint8Array).length)).toEqual([...sizes].reverse());
    expect(task.rows.every(({ id, data }) => (data as Uint8Array).every((byte) => byte === 1 - Number(id)))).toBe(true);
  });

  /** Values that begin alike, are prefixes of each other, are equal, empty or null. */
  function alike(count: number): RecordBatch {
    const value = (id: number) => `${"the same beginning ".repeat(id % 4)}${"x".repeat((id * 31) % 97)}${id % 3}`;
    return rows(
      ...Array.from({ length: count }, (_, id) => ({
        id: id % 50,
        text: id % 13 === 5 ? null : value(id % 400),
        bytes: id % 17 === 5 ? null : Buffer.from(value(id % 30)),
        list: [id % 2],
      })),
    );
  }

  test("[A9] whole rows are made distinct by numbers of their values, whatever their hashes", async () => {
    const batches = feed(0, alike(900), alike(300));
    const sql = "SELECT * FROM (SELECT DISTINCT * FROM {t0}) ORDER BY id, list, hash(text), hash(bytes)";
    const ordinary = await ran(sql, batches, [null]);
    const all = "SELECT * FROM (SELECT DISTINCT * FROM {t0})";
    const found = await ran(all, batches, [{ matched: null }]);
    expect(found.types).toEqual(ordinary.types);
    expect(inAnyOrder(found.rows)).toEqual(inAnyOrder(ordinary.rows));
    expect(found.report.byReference).toMatchObject({ rows: 1200 });
  });

  test("[A9] rows are ordered by the ranks of texts and bytes", async () => {
    const batches = feed(0, alike(900), alike(300));
    for (const order of ["text, bytes, id", "bytes DESC NULLS FIRST, text NULLS LAST, id"]) {
      const ordered = { read: ["id"], ordered: ["text", "bytes"] };
      await both(`SELECT id, bytes, text FROM {t0} ORDER BY ${order}`, batches, [ordered]);
    }
  });

  test("[A9] an ENUM that travels as text keeps its own order", async () => {
    const tables = [[{ name: "k", type: "ENUM('z', 'a', 'm')" }]];
    const task = new TestTask(
      kernel,
      operatorOf([sqlStep("SELECT * FROM {t0} ORDER BY k")]),
      taskOf({ kind: "fed", tables, sees: [seenColumns({ ordered: ["k"] })] }),
    );
    task.feed(0, rows({ k: "a" }, { k: "m" }, { k: "z" }));
    await task.finish();
    expect(task.rows).toEqual([{ k: "z" }, { k: "a" }, { k: "m" }]);
  });

  test("a cancel ends it, and nothing is left", async () => {
    await kernel.take({ threads: 2, memory });
    const task = new TestTask(
      kernel,
      operatorOf([sqlStep("SELECT * FROM {t0} ORDER BY id")]),
      taskOf({ kind: "fed", tables: [[]], sees: [seenColumns(["id"])] }),
    );
    const report = task.running.run();
    const read = new Promise<void>((resolve) => {
      task.outlet.onFed = resolve;
    });
    task.running.feed({ table: 0, slices: [task.outlet.place(wide(0, 500))] });
    await read;
    task.running.cancel();
    await expect(report).rejects.toBeInstanceOf(CancelledError);
    expect(kernel.connection.all("SELECT table_name FROM duckdb_tables()")).toEqual([]);
  });
});

/** As texts, which are compared a hundred times as fast as bytes in objects. */
const told = (some: readonly object[]) =>
  some.map((row) =>
    JSON.stringify(row, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value,
    ),
  );

const inAnyOrder = (some: readonly object[]) => told(some).sort();
