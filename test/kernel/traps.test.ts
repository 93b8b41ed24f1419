import { readFileSync } from "node:fs";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { concatBatches, quoteIdentifier, quoteText, toRows } from "../../src/arrow/index.ts";
import type { RecordBatch } from "../../src/arrow/types.ts";
import { type Connection, Kernel } from "../../src/kernel/index.ts";
import { allocate } from "../../src/native/index.ts";
import { onLinux } from "../support/requires.ts";
import { batchOf, bytes, collect, inNativeMemory, text, vector, withKernel } from "./batches.ts";

const numbers = (count: number): RecordBatch =>
  batchOf({
    n: vector({ kind: "float", bits: 64 }, count, null, [bytes(Float64Array.from({ length: count }, (_, i) => i))]),
    s: text(Array.from({ length: count }, (_, i) => (i % 5 === 0 ? null : `text number ${i}`))),
  });

async function countAsync(connection: Connection, sql: string): Promise<number> {
  const stream = await connection.queryAsync(sql);
  let rows = 0;
  for (let batch = await stream.nextAsync(); batch !== null; batch = await stream.nextAsync()) rows += batch.length;
  stream.close();
  return rows;
}

describe("streams", () => {
  it("two streams of one connection go side by side, over the same block too", () =>
    withKernel(1, (connection) => {
      const table = connection.table([numbers(6000)]);
      const a = connection.query(`SELECT n FROM ${table.sql} ORDER BY n`);
      const b = connection.query(`SELECT s FROM ${table.sql}`);
      connection.execute("CREATE TABLE meanwhile AS SELECT 1");
      let rows = 0;
      for (let turns = 0; turns < 4; turns++) rows += (a.next()?.length ?? 0) * 1000 + (b.next()?.length ?? 0);
      expect(rows).toBe(6000 * 1001);
      a.close();
      b.close();
      table.release();
    }));

  it("[R1] a batch has at most 2,048 rows and is the stream's own memory: kept ones show other rows, never crash", () =>
    withKernel(1, (connection, kernel) => {
      const stream = connection.query("SELECT i, 'row ' || i AS s FROM range(10000) t(i)");
      const first = stream.next();
      const kept = first === null ? null : concatBatches([first]);
      const sizes = [first?.length ?? 0];
      for (let batch = stream.next(); batch !== null; batch = stream.next()) sizes.push(batch.length);
      expect(Math.max(...sizes)).toBe(2048);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(10000);
      expect(stream.next()).toBeNull();
      stream.close();
      kernel.close();
      expect(kept === null ? null : toRows(kept)[2047]).toEqual({ i: 2047, s: "row 2047" });
      expect(first === null ? 0 : toRows(first).length).toBeGreaterThan(0);
    }));

  it("an error after rows have come is an error, not the end", () =>
    withKernel(1, async (connection) => {
      const sql = "SELECT CASE WHEN i = 300000 THEN error('bad row') ELSE i::VARCHAR END AS c FROM range(600000) t(i)";
      const failure = expect.objectContaining({ name: "KernelError", kind: "Invalid Input", sql });
      const stream = connection.query(sql);
      let rows = 0;
      expect(() => {
        for (let batch = stream.next(); batch !== null; batch = stream.next()) rows += batch.length;
      }).toThrow(failure);
      expect(rows).toBeGreaterThan(0);
      expect(rows).toBeLessThan(300001);
      stream.close();
      await expect(countAsync(connection, sql)).rejects.toEqual(failure);
      expect(connection.all("SELECT 1 AS fine")).toEqual([{ fine: 1 }]);
    }));

  it("closing early, at once, twice, or with a fetch under way; a closed stream says so", () =>
    withKernel(1, async (connection) => {
      const sql = "SELECT i FROM range(10000000) t(i)";
      const unread = connection.query(sql);
      unread.close();
      unread.close();
      expect(() => unread.next()).toThrow(/closed/);
      const fetching = await connection.queryAsync(sql);
      const under = fetching.nextAsync();
      await expect(fetching.nextAsync()).rejects.toThrow(/fetching already/);
      fetching.close();
      expect(await under).toBeNull();
      expect(connection.all("SELECT 42 AS a")).toEqual([{ a: 42 }]);
    }));

  it("INSERT … RETURNING, EXPLAIN, DESCRIBE and a count of changes come as rows", () =>
    withKernel(1, (connection) => {
      connection.execute("CREATE TABLE t (a INT, b VARCHAR); INSERT INTO t VALUES (1, 'x');");
      expect(connection.all("INSERT INTO t VALUES (2, 'y') RETURNING a, b")).toEqual([{ a: 2, b: "y" }]);
      expect(connection.all("DELETE FROM t")).toEqual([{ Count: 2 }]);
      expect(connection.all("EXPLAIN SELECT * FROM t").length).toBeGreaterThan(0);
      expect(connection.all("DESCRIBE t").map((row) => row.column_name)).toEqual(["a", "b"]);
    }));

  it("one thread gives the same chunks again and again", () =>
    withKernel(1, (connection) => {
      connection.execute("CREATE TABLE t AS SELECT i, hash(i) % 100 AS h FROM range(50000) t(i)");
      for (const sql of ["FROM t WHERE h < 40", "SELECT h, count(*) FROM t GROUP BY h", "SELECT * FROM t ORDER BY h"]) {
        const seen = Array.from({ length: 3 }, () => {
          const stream = connection.query(sql);
          const chunks: string[] = [];
          for (let batch = stream.next(); batch !== null; batch = stream.next()) {
            chunks.push(JSON.stringify(toRows(batch, { int64: "number" })));
          }
          return chunks;
        });
        expect(seen[1]).toEqual(seen[0]);
        expect(seen[2]).toEqual(seen[0]);
      }
    }));
});

describe("errors", () => {
  it.each([
    ["SELECT * FROM nowhere", "Catalog"],
    ["SELECT nothing FROM range(1)", "Binder"],
    ["SELEC 1", "Parser"],
    ["SELECT 'x'::INT", "Conversion"],
    ["FROM read_parquet('/nowhere/at/all.parquet')", "IO"],
    ["SELECT 9223372036854775807::BIGINT + i FROM range(2) t(i)", "Out of Range"],
    ["SELECT error('mine')", "Invalid Input"],
  ])("%s is of kind %s, here and elsewhere", (sql, kind) =>
    withKernel(1, async (connection) => {
      const expected = expect.objectContaining({ name: "KernelError", kind, sql });
      expect(() => connection.all(sql)).toThrow(expected);
      expect(() => connection.execute(sql)).toThrow(expected);
      await expect(connection.executeAsync(sql)).rejects.toEqual(expected);
      await expect(countAsync(connection, sql)).rejects.toEqual(expected);
    }),
  );

  it("out of memory is an error with its own kind", () => {
    const kernel = Kernel.open({ threads: 1, memoryLimit: 50_000_000 });
    expect(() =>
      kernel.connect().execute("CREATE TABLE t AS SELECT i, repeat('x', 100) || i AS s FROM range(3000000) t(i)"),
    ).toThrow(expect.objectContaining({ kind: "Out of Memory" }));
    kernel.close();
  });

  it("an error inside of a table is thrown as it is", () =>
    withKernel(1, async (connection) => {
      const broken = {
        ...numbers(10),
        get columns(): never {
          throw new RangeError("the caller's own");
        },
      };
      const table = connection.table([numbers(4000), broken], numbers(1).schema);
      const seen: unknown[] = [];
      for (const run of [
        async () => connection.all(`SELECT sum(n) AS t FROM ${table.sql}`),
        async () => connection.execute(`CREATE TABLE x AS FROM ${table.sql}`),
        () => connection.executeAsync(`CREATE TABLE x AS FROM ${table.sql}`),
        () => countAsync(connection, `FROM ${table.sql}`),
      ]) {
        await run().catch((error: unknown) => seen.push(error));
      }
      expect(seen).toHaveLength(4);
      for (const error of seen) expect(error).toBeInstanceOf(RangeError);
      table.release();
      expect(connection.all("SELECT 1 AS fine")).toEqual([{ fine: 1 }]);
    }));

  it("a released block, and a zero character", () =>
    withKernel(1, (connection) => {
      const table = connection.table([numbers(3)]);
      table.release();
      table.release();
      expect(() => connection.all(`FROM ${table.sql}`)).toThrow(/There is no block\(\d+\): it was released/);
      expect(() => connection.all("SELECT 1\0")).toThrow(/zero character/);
    }));

  it("a closed connection or kernel says so", () => {
    const kernel = Kernel.open({ threads: 1 });
    const connection = kernel.connect();
    connection.close();
    connection.close();
    expect(() => connection.all("SELECT 1")).toThrow(/connection is closed/);
    kernel.close();
    kernel.close();
    expect(() => kernel.connect()).toThrow(/kernel is closed/);
    expect(() => Kernel.open({ threads: 0 })).toThrow(/threads from 1, not 0/);
  });
});

describe("[A7] names and texts in SQL", () => {
  it("are never read as SQL", () =>
    withKernel(1, (connection) => {
      for (const nasty of ["'", "''; DROP TABLE t; --", 'a"b', "\\", "é\u0000x", "\u{1f40b}", "line\nbreak", ""]) {
        expect(connection.all(`SELECT ${quoteText(nasty)} AS v`)).toEqual([{ v: nasty }]);
        if (!nasty.includes("\0") && nasty !== "") {
          expect(connection.all(`SELECT 1 AS ${quoteIdentifier(nasty)}`)).toEqual([{ [nasty]: 1 }]);
        }
      }
      expect(() => quoteIdentifier("a\0b")).toThrow(/NUL character/);
    }));
});

describe("deep SQL does not overflow the stack", () => {
  const depth = 1000;
  const deep: readonly (readonly [string, string])[] = [
    ["nested projections", `${"SELECT x + 1 AS x FROM (".repeat(depth)}SELECT 0 AS x${") t".repeat(depth)}`],
    [
      "ANDs",
      `SELECT count(*) AS x FROM range(10) t(i) WHERE ${Array.from({ length: depth }, (_, n) => `i <> -${n + 1}`).join(" AND ")}`,
    ],
    // The kernel takes cubic time for nested operators: 0.5 s for 300, 20 s for 1,000.
    ["parentheses", `SELECT ${"(1 + ".repeat(300)}i${")".repeat(300)} AS x FROM range(1) t(i)`],
    [
      "CASEs",
      `SELECT ${"CASE WHEN i > 5 THEN 1 ELSE ".repeat(depth)}1000${" END".repeat(depth)} AS x FROM range(1) t(i)`,
    ],
    [
      "columns",
      `SELECT ${Array.from({ length: depth }, (_, n) => `i + ${n} AS c${n}`).join(", ")}, 1 AS x FROM range(1) t(i)`,
    ],
  ];

  it.each(deep)("%s", (name, sql) =>
    withKernel(1, async (connection) => {
      const x = { ANDs: 10, columns: 1, parentheses: 300 }[name] ?? 1000;
      expect(connection.all(sql)[0]?.x).toBe(x);
      expect(await countAsync(connection, sql)).toBe(1);
      await connection.executeAsync(`CREATE TABLE t AS ${sql}`);
      expect(connection.all("SELECT count(*) AS n FROM t")).toEqual([{ n: 1 }]);
    }),
  );

  it("far too deep is an error", () =>
    withKernel(1, async (connection) => {
      const sql = `SELECT ${"(1 + ".repeat(20_000)}0${")".repeat(20_000)} AS x`;
      expect(() => connection.all(sql)).toThrow(expect.objectContaining({ name: "KernelError" }));
      await expect(connection.executeAsync(sql)).rejects.toThrow(expect.objectContaining({ name: "KernelError" }));
    }));
});

const SLOW = "SELECT count(*) AS n FROM range(3000000000) t(i) WHERE sqrt(i) < 0";

describe("asynchronous calls", () => {
  it("leave the event loop free", () =>
    withKernel(1, async (connection) => {
      let ticks = 0;
      const ticking = setInterval(() => {
        ticks += 1;
      }, 1);
      let ended = false;
      const work = connection.executeAsync(SLOW.replace("3000000000", "20000000")).finally(() => {
        ended = true;
      });
      while (!ended) await turn();
      clearInterval(ticking);
      await work;
      expect(ticks).toBeGreaterThan(5);
    }));

  it.each([1, 2])("interrupt stops one with a KernelError of kind Interrupt (%i threads)", (threads) =>
    withKernel(threads, async (connection) => {
      const work = connection.executeAsync(SLOW);
      const streaming = connection.queryAsync(SLOW).then((stream) => stream.nextAsync());
      setTimeout(() => connection.interrupt(), 20);
      const outcomes = await Promise.allSettled([work, streaming]);
      for (const outcome of outcomes) {
        expect(outcome).toMatchObject({ status: "rejected", reason: { name: "KernelError", kind: "Interrupt" } });
      }
      expect(connection.all("SELECT 1 AS fine")).toEqual([{ fine: 1 }]);
    }),
  );

  it.each([1, 2])(
    "an interrupt that comes before the call has begun, or between calls, counts too (%i threads)",
    (threads) =>
      withKernel(threads, async (connection) => {
        const reason = { name: "KernelError", kind: "Interrupt" };
        for (let round = 0; round < 20; round++) {
          const work = [
            connection.executeAsync(SLOW),
            connection.queryAsync(SLOW).then((stream) => stream.nextAsync()),
          ];
          if (round % 2 === 1) await turn();
          connection.interrupt();
          for (const outcome of await Promise.allSettled(work)) expect(outcome).toMatchObject({ reason });
        }
        const stream = await connection.queryAsync("FROM range(1000000)");
        await stream.nextAsync();
        connection.interrupt();
        await expect(stream.nextAsync()).rejects.toMatchObject(reason);
        expect(connection.all("SELECT 1 AS fine")).toEqual([{ fine: 1 }]);
      }),
  );

  it("with several threads, blocks go through the asynchronous calls alone, the others say so and do not hang", () =>
    withKernel(2, async (connection) => {
      const table = connection.table([numbers(100_000)]);
      const refused = expect.objectContaining({ kind: "Threads", message: expect.stringMatching(/Async|threads: 1/) });
      expect(() => connection.all(`FROM ${table.sql}`)).toThrow(refused);
      expect(() => connection.execute(`CREATE TABLE t AS FROM ${table.sql}`)).toThrow(refused);
      expect(() => connection.describe(`FROM ${table.sql}`)).toThrow(refused);
      const stream = await connection.queryAsync(`SELECT n FROM ${table.sql}`);
      expect(() => stream.next()).toThrow(refused);
      expect((await stream.nextAsync())?.length).toBe(2048);
      stream.close();
      expect(await countAsync(connection, `SELECT n FROM ${table.sql} WHERE n >= 50000`)).toBe(50_000);
      await connection.executeAsync(`CREATE TABLE t AS FROM ${table.sql}`);
      expect(connection.all("SELECT count(*) AS n, sum(n) AS t FROM t")).toEqual([{ n: 100_000, t: 4999950000 }]);
      table.release();
    }));

  it("a stream over a block that is left early, with several threads, gives its memory back", () =>
    withKernel(2, async (connection) => {
      for (let round = 0; round < 20; round++) {
        const { batch, memory } = inNativeMemory(numbers(50_000));
        const table = connection.table([batch]);
        const stream = await connection.queryAsync(`SELECT s, n FROM ${table.sql} ORDER BY n`);
        if (round % 2 === 0) await stream.nextAsync();
        stream.close();
        table.release();
        // The next statement of the connection waits for nothing and is right.
        expect(await countAsync(connection, "FROM range(3000)")).toBe(3000);
        memory.view(0, 8).fill(0);
      }
    }));

  it("many at once wait for a place", () =>
    withKernel(2, async (connection) => {
      const table = connection.table([numbers(5000)]);
      const counts = await Promise.all(
        Array.from({ length: 40 }, (_, i) => countAsync(connection, `SELECT n FROM ${table.sql} WHERE n >= ${i}`)),
      );
      expect(counts).toEqual(Array.from({ length: 40 }, (_, i) => 5000 - i));
      table.release();
    }));
});

describe("memory", () => {
  /** What this process has of its own, in MB. */
  const privateMegabytes = () => {
    const [, resident = 0, shared = 0] = readFileSync("/proc/self/statm", "utf8").split(" ").map(Number);
    return ((resident - shared) * 4096) / 1e6;
  };

  onLinux.test("10,000 rounds of a table, a query and a release leave nothing behind", () =>
    withKernel(1, (connection) => {
      const own = numbers(1500);
      const native = inNativeMemory(own);
      const round = (index: number) => {
        const table = connection.table([index % 2 === 0 ? own : native.batch]);
        // One in ten is left early: its scan never comes to its end.
        const stream = connection.query(`SELECT n + ${index % 7} AS m, upper(s) AS s FROM ${table.sql} WHERE n >= 5`);
        const first = stream.next();
        if (first === null) throw new Error("no rows");
        if (index % 10 !== 0) while (stream.next() !== null);
        stream.close();
        table.release();
      };
      for (let index = 0; index < 2000; index++) round(index);
      globalThis.gc?.();
      const before = privateMegabytes();
      for (let index = 0; index < 10_000; index++) round(index);
      globalThis.gc?.();
      expect(privateMegabytes() - before).toBeLessThan(25);
      native.memory.free();
    }),
  );

  it("a block released while a stream reads it is there until the stream ends", () =>
    withKernel(1, (connection) => {
      const table = connection.table([numbers(8000)]);
      const stream = connection.query(`SELECT s FROM ${table.sql}`);
      table.release();
      // Whatever takes the memory next would show.
      const others = Array.from({ length: 20 }, () => connection.table([numbers(8000)]));
      for (const other of others) connection.all(`SELECT max(s) AS m FROM ${other.sql}`);
      let rows = 0;
      for (let batch = stream.next(); batch !== null; batch = stream.next()) {
        for (const row of toRows(batch)) expect(row.s).toBe(rows++ % 5 === 0 ? null : `text number ${rows - 1}`);
      }
      expect(rows).toBe(8000);
      for (const other of others) other.release();
    }));

  it("[R4] buffers in native memory are read in place", () =>
    withKernel(1, (connection) => {
      const memory = allocate(64);
      const view = memory.view(0, 24);
      const values = new Float64Array(view.buffer, view.byteOffset, 3);
      values.set([1, 2, 3]);
      const table = connection.table([batchOf({ n: vector({ kind: "float", bits: 64 }, 3, null, [view]) })]);
      expect(connection.all(`SELECT sum(n) AS t FROM ${table.sql}`)).toEqual([{ t: 6 }]);
      values.set([10, 20, 30]);
      expect(connection.all(`SELECT sum(n) AS t FROM ${table.sql}`)).toEqual([{ t: 60 }]);
      table.release();
      memory.free();
    }));

  it("a batch of one stream feeds another query while it is borrowed", () =>
    withKernel(1, (connection) => {
      const stream = connection.query("SELECT i FROM range(10000) t(i)");
      let total = 0;
      for (let batch = stream.next(); batch !== null; batch = stream.next()) {
        const table = connection.table([batch]);
        const [row] = connection.all(`SELECT sum(i)::DOUBLE AS t FROM ${table.sql}`);
        total += Number(row?.t);
        table.release();
      }
      expect(total).toBe((9999 * 10000) / 2);
    }));

  it("sorts more than its memory limit with a directory to spill to", async () => {
    const { mkdtempSync, readdirSync, rmSync } = await import("node:fs");
    const { tmpdir } = await import("node:os");
    const directory = mkdtempSync(`${tmpdir()}/spillway-kernel-`);
    const kernel = Kernel.open({ threads: 1, memoryLimit: 100_000_000, tempDirectory: directory });
    const stream = kernel
      .connect()
      .query("SELECT hash(i) AS h, repeat('x', 60) || i AS s FROM range(2000000) t(i) ORDER BY h");
    let rows = 0;
    for (let batch = stream.next(); batch !== null; batch = stream.next()) rows += batch.length;
    expect(rows).toBe(2_000_000);
    kernel.close();
    expect(readdirSync(directory)).toEqual([]);
    rmSync(directory, { recursive: true });
  });

  it("collects what a query gives from several kernels at once", () => {
    const kernels = [1, 1, 2].map((threads) => Kernel.open({ threads }));
    const batches = kernels.map((kernel, index) => collect(kernel.connect(), `SELECT ${index} AS k FROM range(3000)`));
    expect(batches.map((batch) => batch.length)).toEqual([3000, 3000, 3000]);
    for (const kernel of kernels) kernel.close();
  });
});

describe("the rule for the first rows of each partition", () => {
  for (const threads of [1, 2]) {
    it(`[A16] a condition with two ends below it is no internal error, with ${threads} threads`, () =>
      withKernel(threads, async (connection, kernel) => {
        const table = connection.table([numbers(6000)]);
        const first = `SELECT n FROM (SELECT n, s FROM ${table.sql} WHERE n + 1 BETWEEN 11 AND 20)
          QUALIFY row_number() OVER (PARTITION BY s ORDER BY n) <= 1`;
        const [ones, others] = await Promise.all([
          countAsync(connection, first),
          countAsync(kernel.connect(), first.replace("<= 1", "<= 2")),
        ]);
        expect([ones, others]).toEqual([9, 10]);
        const rule = "SELECT current_setting('disabled_optimizers') AS off";
        expect(toRows(collect(connection, rule))).toEqual([{ off: "" }]);
        table.release();
      }));
  }
});
