/** What a kernel may use, and what it says when that is not enough. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { KernelError, KernelMemoryError, SpillError } from "../../src/errors/index.ts";
import { procGauge } from "../../src/memory/index.ts";
import type { WorkerId } from "../../src/protocol/index.ts";
import { inUserWords } from "../../src/worker/kernel-errors.ts";
import { LeasedKernel } from "../../src/worker/leased-kernel.ts";
import { operatorOf, sqlStep, TestTask, taskOf } from "./task-bench.ts";

const MiB = 1 << 20;
let directory = "";
let kernel: LeasedKernel;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "leased-"));
  kernel = new LeasedKernel();
  kernel.spillBelow(directory, 3 as WorkerId);
});
afterEach(() => {
  kernel.close();
  rmSync(directory, { recursive: true });
});

const setting = (name: string) => kernel.connection.all(`SELECT current_setting('${name}') AS v`)[0]?.v;
const fed = (sql: string) => new TestTask(kernel, operatorOf([sqlStep(sql)]), taskOf({ kind: "fed", tables: [] }));

test("[D1] the limit counts the vectors of very many columns in addition, until there are none", async () => {
  await kernel.take({ threads: 1, memory: 64 * MiB });
  const usual = setting("memory_limit");
  await kernel.countVectors(5_000);
  expect(setting("memory_limit")).not.toBe(usual);
  // A lease that comes meanwhile counts them, too.
  await kernel.take({ threads: 1, memory: 32 * MiB });
  await kernel.take({ threads: 1, memory: 64 * MiB });
  expect(setting("memory_limit")).not.toBe(usual);
  await kernel.countVectors(0);
  expect(setting("memory_limit")).toBe(usual);
  await kernel.countVectors(1_000);
  expect(setting("memory_limit")).toBe(usual);
});

test("[K11] what a dropped table took is given back at once, and the kernel's limit stays", async () => {
  const own = () => procGauge.process(process.pid)?.private ?? 0;
  await kernel.take({ threads: 1, memory: 1024 * MiB });
  // From the drop on the allocator may give back by itself, on a busy machine before anybody looks: such a time tells
  // nothing.
  let freed = 0;
  for (let time = 0; time < 8 && freed < 100 * MiB; time++) {
    const without = own();
    kernel.connection.execute("CREATE TABLE t AS SELECT range AS id, hash(range)::VARCHAR AS text FROM range(5000000)");
    kernel.connection.execute("DROP TABLE t");
    const dropped = own();
    await kernel.giveBack();
    if (dropped - without > 150 * MiB) freed = dropped - own();
  }
  expect(freed).toBeGreaterThanOrEqual(100 * MiB);
  expect(setting("memory_limit")).toBe("1.0 GiB");
});

test("[K11] the kernel keeps no copies of the files that it has read", async () => {
  const path = join(directory, "read.parquet");
  await kernel.take({ threads: 1, memory: 1024 * MiB });
  kernel.connection.execute(`COPY (SELECT range AS id, hash(range) AS h FROM range(1000000)) TO '${path}'`);
  kernel.connection.all(`SELECT sum(h) FROM '${path}'`);
  const kept = "SELECT memory_usage_bytes AS n FROM duckdb_memory() WHERE tag = 'EXTERNAL_FILE_CACHE'";
  expect(Number(kernel.connection.all(kept)[0]?.n)).toBe(0);
});

describe("a lease", () => {
  test("sets memory at once, and threads only for wide queries", async () => {
    await kernel.take({ threads: 2, memory: 100 * MiB });
    expect(setting("memory_limit")).toBe("100.0 MiB");
    expect(setting("threads")).toBe(1);
    const inside = await kernel.wide(false, async () => [setting("threads"), setting("preserve_insertion_order")]);
    expect(inside).toEqual([2, false]);
    expect([setting("threads"), setting("preserve_insertion_order")]).toEqual([1, true]);
    await kernel.take({ threads: 1, memory: null });
    expect(setting("memory_limit")).not.toBe("100.0 MiB");
  });

  test("of less memory than is held spills what is held, in a directory of the worker's own, which goes with it", async () => {
    await kernel.take({ threads: 1, memory: 200 * MiB });
    kernel.connection.execute("CREATE TABLE held AS SELECT range AS a, random() AS b FROM range(4000000)");
    expect((await kernel.usage()).spilled).toBe(0);
    expect(existsSync(join(directory, "kernel-3"))).toBe(false);
    await kernel.take({ threads: 1, memory: 30 * MiB });
    const { memory, spilled } = await kernel.usage();
    expect(memory).toBeLessThan(31 * MiB);
    expect(spilled).toBeGreaterThan(20 * MiB);
    expect(existsSync(join(directory, "kernel-3"))).toBe(true);
    expect(Number(kernel.connection.all("SELECT count(*) AS n FROM held")[0]?.n)).toBe(4_000_000);
    kernel.close();
    expect(existsSync(join(directory, "kernel-3"))).toBe(false);
  });

  test("a sort larger than its memory is told of while it runs", async () => {
    await kernel.take({ threads: 2, memory: 60 * MiB });
    const task = fed(
      "SELECT count(*) AS n FROM (SELECT * FROM (SELECT hash(range) AS h, range AS r FROM range(12000000)) ORDER BY h OFFSET 1)",
    );
    const report = await task.finish();
    expect(task.rows).toEqual([{ n: 11_999_999 }]);
    expect(task.outlet.usages.length).toBeGreaterThan(0);
    expect(report.kernel?.spilled).toBeGreaterThan(0);
    expect(report.kernel?.memory).toBeLessThan(70 * MiB);
  });
});

describe("too little of it", () => {
  test("memory that cannot go to disk: an error of its own, with the figures", async () => {
    await kernel.take({ threads: 1, memory: 20 * MiB });
    const failed = await fed("SELECT list(range) AS all_of_them FROM range(30000000)")
      .finish()
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(KernelMemoryError);
    expect(failed).toMatchObject({ operator: "test", limit: 20 * MiB, threads: 1 });
    expect(String(failed)).toMatch(/asked for .* more with .* of 20\.0 MiB in use, on 1 thread\. .*kernel-3/);
  });

  test("a full disk: the directory is named", async () => {
    await kernel.take({ threads: 1, memory: 20 * MiB });
    kernel.connection.execute("SET GLOBAL max_temp_directory_size = '4MB'");
    const failed = await fed("SELECT * FROM (SELECT hash(range) AS h FROM range(8000000)) ORDER BY h")
      .finish()
      .catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SpillError);
    expect(String(failed)).toContain(join(directory, "kernel-3"));
    const full = new KernelError(
      `IO Error: Could not write file "${kernel.directory}/a.tmp": No space left on device`,
      "IO",
    );
    expect(inUserWords(full, "sort", [], kernel)).toBeInstanceOf(SpillError);
  });
});

test("[M3] a kernel that takes no more statements is made anew with its lease and its directory; a sound one stays", async () => {
  await kernel.take({ threads: 1, memory: 64 * MiB });
  expect(await kernel.renewIfBroken()).toBe(false);
  kernel.connection.execute("CREATE TABLE held AS SELECT 1 AS a");
  // What a connection of a kernel that broke does: every statement fails.
  kernel.connection.close();
  expect(await kernel.renewIfBroken()).toBe(true);
  expect(setting("memory_limit")).toBe("64.0 MiB");
  expect(setting("temp_directory")).toBe(join(directory, "kernel-3"));
  expect(kernel.connection.all("SELECT count(*) AS n FROM duckdb_tables()")).toEqual([{ n: 0 }]);
  expect((await kernel.usage()).memory).toBeGreaterThanOrEqual(0);
});
