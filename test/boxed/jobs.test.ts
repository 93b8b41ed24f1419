/**
 * Jobs in a real memory box, with nothing but defaults: they must end with the right answer, and the kernel must not
 * have killed anything. A box cannot hold more than its limit, so the kills are the judge and `held` is the margin.
 */
import { expect, test } from "vitest";
import { type BoxedRun, boxed, runInBox } from "../support/box.ts";

const MIB = 2 ** 20;

function expectAlive(run: BoxedRun, limit: number): void {
  expect(run).toMatchObject({ exitCode: 0, kills: 0 });
  expect(run.held).toBeLessThan(limit);
}

boxed("2 GB in 512 MiB", () => {
  const limit = 512 * MIB;

  test("[D1] flow through a row function and a batch function, and are counted", async () => {
    const run = await runInBox(limit, "stream", "count", "2e9");
    expectAlive(run, limit);
    expect(JSON.parse(run.stdout)).toEqual({ rows: 10_000_000 });
  });

  test("[D1] flow through them and are written as Parquet", async () => {
    const run = await runInBox(limit, "stream", "write", "2e9");
    expectAlive(run, limit);
    expect(JSON.parse(run.stdout)).toEqual({ rows: 10_000_000, read: 10_000_000 });
  });
});

boxed("small machines", () => {
  test.each([
    [512, 5e8],
    [256, 3e8],
  ])("[D1] in %d MiB a reader slower than the workers makes them wait", async (mib, bytes) => {
    const run = await runInBox(mib * MIB, "slow-reader", String(bytes));
    expectAlive(run, mib * MIB);
    const rows = bytes / 200;
    expect(JSON.parse(run.stdout)).toEqual({ rows, sum: (rows * (rows - 1)) / 2 });
  });

  test("[A18] in 512 MiB a CSV file of 5,000 columns is counted, and mapped by some of them", async () => {
    const run = await runInBox(512 * MIB, "wide-csv", "5000");
    expectAlive(run, 512 * MIB);
    expect(JSON.parse(run.stdout)).toEqual({ counted: 100, last: { sum: 99 + 99.5 + (99 + 1498) } });
  });

  test("[D1] in 384 MiB a Parquet file of 2,500 columns is made, mapped, filtered, sorted by one of them and copied", async () => {
    const [columns, rows] = [2_500, 1_000];
    const run = await runInBox(384 * MIB, "wide-parquet", String(columns), String(rows));
    expectAlive(run, 384 * MIB);
    const total = (factor: number) =>
      Array.from({ length: rows }, (_, id) => (id * factor) % 1009).reduce((sum, value) => sum + value, 0);
    expect(JSON.parse(run.stdout)).toEqual({
      mapped: rows,
      keys: columns,
      sum: total(1) + total(columns),
      one: total(78),
      filtered: 100,
      selected: rows,
      isSorted: true,
      copied: total(2),
    });
  });

  test("[A18] in 512 MiB a text file is streamed, cut or compressed, and 300 small files of each format are read", async () => {
    const run = await runInBox(512 * MIB, "text-and-files", "40e6", "300");
    expectAlive(run, 512 * MIB);
    const { lines, packed, matching, ...small } = JSON.parse(run.stdout);
    expect({ lines, packed, matching }).toEqual({ lines: 400_000, packed: 400_000, matching: 40 });
    expect(small).toEqual({ parquet: 300, arrow: 300, csv: 300, json: 300, text: 300, binary: 300 });
  });

  test("[M1] in 1 GiB two sessions share what there is, and nothing is killed", async () => {
    const run = await runInBox(1024 * MIB, "two-sessions", "400000");
    expectAlive(run, 1024 * MIB);
    const [one, other] = JSON.parse(run.stdout).results;
    expect(one.sorted).toBe(400_000);
    expect(other).toEqual(one);
    expect(JSON.parse(run.stdout).shared).toBe(true);
  });

  test("[M1] in 512 MiB a program that keeps 300 MB while it reads gets every row, and nothing is killed", async () => {
    const run = await runInBox(512 * MIB, "program-memory", "500000", "300e6");
    expectAlive(run, 512 * MIB);
    expect(JSON.parse(run.stdout)).toEqual({ read: 500_000, sum: (500_000 * 499_999) / 2, held: 300e6 });
  });

  test("[M1] one that keeps 420 MB gets an error with its figures, and lives on", async () => {
    const run = await runInBox(512 * MIB, "program-memory", "1000000", "420e6");
    expectAlive(run, 512 * MIB);
    const { name, reason, message } = JSON.parse(run.stdout);
    expect({ name, reason }).toEqual({ name: "OutOfMemoryError", reason: "program" });
    expect(message).toMatch(/The program itself holds \d+ MiB of the node's 512 MiB/);
  });

  test.each([512, 256])("[D1] in %d MiB several jobs at once share what there is", async (mib) => {
    const run = await runInBox(mib * MIB, "several-jobs", "2e8");
    expectAlive(run, mib * MIB);
    const rows = 1_000_000;
    const sum = (rows * (rows - 1)) / 4;
    expect(JSON.parse(run.stdout)).toEqual({ sum, counted: rows / 2, written: rows, kept: 10_000 });
  });

  test("[K1] a default session has fewer workers than cores where memory is short, and says so", async () => {
    const run = await runInBox(256 * MIB, "stream", "count", "1e6");
    expectAlive(run, 256 * MIB);
    expect(run.stderr).toMatch(/1 workers for \d+ cores: of 256 MiB of memory, the store may take 76\.8 MiB/);
  });
});

boxed("wide rows", () => {
  test.each(["sort", "shuffle", "join", "distinct"])("[D1] in 512 MiB, 100 rows of a MiB: %s", async (what) => {
    const run = await runInBox(512 * MIB, "wide-rows", what, "100");
    expectAlive(run, 512 * MIB);
    const { inOrder, ...result } = JSON.parse(run.stdout);
    expect(result).toEqual({ rows: 100, bytes: 100 * MIB, wrong: 0 });
    if (what === "sort") expect(inOrder).toBe(true);
  });
});

boxed("relational work, several times the box", () => {
  const all = (rows: number) => (rows * (rows - 1)) / 2;

  test("[A9] in 512 MiB rows are sorted and written", async () => {
    const run = await runInBox(512 * MIB, "relational", "sort", "1e9");
    expectAlive(run, 512 * MIB);
    expect(JSON.parse(run.stdout)).toEqual({ written: 5e6, first: 5e6 - 1 });
  });

  test("[A9] in 512 MiB two inputs are joined", async () => {
    const run = await runInBox(512 * MIB, "relational", "join", "6e8");
    expectAlive(run, 512 * MIB);
    expect(JSON.parse(run.stdout)).toEqual({ n: 3e6, equal: 3e6, ids: all(3e6) });
  });

  test("[A9] in 512 MiB half of the rows meet in one key of a join", async () => {
    const run = await runInBox(512 * MIB, "relational", "skew", "6e8");
    expectAlive(run, 512 * MIB);
    // The even ones have the key 0, the odd ones their own number.
    expect(JSON.parse(run.stdout)).toEqual({ n: 3e6, ids: all(3e6) });
  });

  test.each([512, 256])("[A8] in %d MiB there are as many groups as rows, after a function", async (mib) => {
    const run = await runInBox(mib * MIB, "relational", "groups", "6e8");
    expectAlive(run, mib * MIB);
    expect(JSON.parse(run.stdout)).toEqual({ n: 3e6, ids: all(3e6) });
  });

  test("[A8] in 512 MiB whole groups go through a function", async () => {
    const run = await runInBox(512 * MIB, "relational", "mapGroups", "6e8");
    expectAlive(run, 512 * MIB);
    expect(JSON.parse(run.stdout)).toEqual({ n: 3e6, keys: 1000 });
  });

  test("[A9] in 768 MiB all rows are shuffled", async () => {
    const run = await runInBox(768 * MIB, "relational", "shuffle", "6e8");
    expectAlive(run, 768 * MIB);
    expect(JSON.parse(run.stdout)).toEqual({ seen: 3e6, sum: all(3e6) });
  });
});
