import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyRow, col, type Dataset, sql, WriteError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("write");
const s = sessions.open();
let outs = 0;
const fresh = () => join(sessions.directory, `out-${outs++}`);

/** Every file below a directory, hidden ones included. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}

const plain = s.range(10_000).withColumn("k", sql("id % 3")).withColumn("text", sql("'t' || id"));
/** The same rows through a function, which writes on another path. */
const mapped = plain.map((row) => row);

describe.each([
  ["without a function", plain],
  ["after a function", mapped],
])("%s", (_, ds) => {
  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)("[A11] write%s, and read the same back", async (format) => {
    const out = fresh();
    const written = await ds[`write${format}`](out);
    expect(written.rows).toBe(10_000);
    expect(filesBelow(out).length).toBe(written.files.length);
    const back = await s[`read${format}`](out).takeAll();
    expect(back.length).toBe(10_000);
    expect(back.reduce((sum, row) => sum + Number(row.id), 0)).toBe((9999 * 10_000) / 2);
    expect(back.every((row) => row.text === `t${row.id}`)).toBe(true);
  });

  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)("[A11] write%s by partition", async (format) => {
    const out = fresh();
    await ds[`write${format}`](out, { partitionBy: ["k"] });
    expect(readdirSync(out).sort()).toEqual(["k=0", "k=1", "k=2"]);
    const back = await s[`read${format}`](out).takeAll();
    expect(back.length).toBe(10_000);
    expect(back.every((row) => Number(row.k) === Number(row.id) % 3)).toBe(true);
  });

  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)(
    "[A11] write%s into a directory whose name has characters of patterns, quotes and a percent sign",
    async (format) => {
      for (const name of ["a[1]*?", "back\\slash", 'it\'s "%20"']) {
        for (const options of [{}, { partitionBy: ["k"] }] as const) {
          const out = join(fresh(), name);
          await ds[`write${format}`](out, options);
          const back = await s[`read${format}`](out).takeAll();
          expect(back.map(({ id }) => Number(id)).sort((a, b) => a - b)).toEqual(
            Array.from({ length: 10_000 }, (_, i) => i),
          );
        }
      }
    },
  );

  test("[A11] maxRowsPerFile is exact", async () => {
    const out = fresh();
    const written = await ds.writeParquet(out, { maxRowsPerFile: 1000 });
    expect(written.files.length).toBeGreaterThanOrEqual(10);
    for (const file of written.files) expect(await s.readParquet(file).count()).toBeLessThanOrEqual(1000);
    expect(await s.readParquet(out).count()).toBe(10_000);
  });

  test("[A11] targetFileSize makes several files", async () => {
    const out = fresh();
    const written = await ds.writeParquet(out, { targetFileSize: "16 KiB" });
    expect(written.files.length).toBeGreaterThan(2);
    expect(await s.readParquet(out).count()).toBe(10_000);
  });

  test("[A11] compression is what was asked for", async () => {
    const small = fresh();
    const large = fresh();
    await ds.writeParquet(small, { compression: "zstd" });
    await ds.writeParquet(large, { compression: "uncompressed" });
    const bytes = (directory: string) =>
      filesBelow(directory).reduce((sum, file) => sum + readFileSync(join(directory, file)).length, 0);
    expect(bytes(small)).toBeLessThan(bytes(large));
  });

  test("[A11] append adds, overwrite replaces", async () => {
    const out = fresh();
    await ds.writeParquet(out);
    await ds.writeParquet(out, { mode: "append" });
    expect(await s.readParquet(out).count()).toBe(20_000);
    await ds.limit(10).writeParquet(out, { mode: "overwrite" });
    expect(await s.readParquet(out).count()).toBe(10);
  });
});

describe("whole or not at all", () => {
  test("[A11] a failed job leaves no file", async () => {
    const out = fresh();
    const failing = s.range(100_000, { overrideNumBlocks: 10 }).map((row) => {
      if (row.id === 95_000) throw new Error("late");
      return row;
    });
    await expect(failing.writeParquet(out)).rejects.toThrow(/late/);
    expect(existsSync(out) ? filesBelow(out) : []).toEqual([]);
  });

  test("[A11] a failed overwrite leaves the old files", async () => {
    const out = fresh();
    await s.range(7).writeParquet(out);
    const failing = s.range(10).map((row) => {
      if (row.id === 5) throw new Error("no");
      return row;
    });
    await expect(failing.writeParquet(out, { mode: "overwrite" })).rejects.toThrow(/no/);
    expect(await s.readParquet(out).count()).toBe(7);
  });

  test("[A11] reading what is being overwritten works, since files change only at the end", async () => {
    const out = fresh();
    await s.range(1000).writeParquet(out);
    await s.readParquet(out).filter(col("id").lt(10)).writeParquet(out, { mode: "overwrite" });
    expect(await s.readParquet(out).count()).toBe(10);
  });

  test("[A11] a directory that cannot be made is an error that names it, and not an endless wait", async () => {
    const refused = {
      name: "WriteError",
      path: "/proc/nope/out",
      message: expect.stringMatching(/^\/proc\/nope\/out cannot be written: ENOENT.*'\/proc\/\.spillway-/),
    };
    await expect(plain.writeParquet("/proc/nope/out")).rejects.toMatchObject(refused);
    await expect(mapped.writeArrow("/proc/nope/out")).rejects.toMatchObject(refused);
    await expect(plain.sort("id").writeCsv("/proc/nope/out")).rejects.toMatchObject(refused);
  });
});

test("[A11] a negative interval is refused by the writer of Parquet files, with its column and what to do", async () => {
  const spans: Dataset<AnyRow> = s
    .range(4)
    .withColumn("past", sql("to_minutes(-id)"))
    .withColumn("within", sql("[to_minutes(id)]"))
    .withColumn("k", sql("id % 2"));
  const file = fresh();
  await spans.writeArrow(file);
  for (const ds of [
    spans,
    s.readArrow(file),
    s.readArrow(file).filter((row) => Number(row.id) > 0),
    spans.sort("id"),
  ]) {
    for (const options of [{}, { partitionBy: ["k"] }, { maxRowsPerFile: 1 }]) {
      const out = fresh();
      const error: unknown = await ds.writeParquet(out, options).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(WriteError);
      expect(String(error)).toContain(`writeParquet: ${out} cannot be written: one of the columns "past", "within"`);
      expect(String(error)).toContain('withColumn("past", col("past").cast("VARCHAR"))');
      expect(existsSync(out)).toBe(false);
    }
  }
  const out = fresh();
  await s.readArrow(file).drop("within").withColumn("past", col("past").cast("VARCHAR")).writeParquet(out);
  expect((await s.readParquet(out).sort("id").takeAll()).at(-1)).toMatchObject({ past: "-00:03:00" });
});

test("[A11] writeJson writes null for what JSON has no word for, at any depth", async () => {
  const out = fresh();
  const nan = Number.NaN;
  const item = {
    v: nan,
    list: [1, nan],
    nested: [{ deep: [Number.NEGATIVE_INFINITY] }],
    "a b": { w: 1.5 },
    none: null,
  };
  await s
    .fromItems([item])
    .map((row) => row)
    .writeJson(out);
  await s.fromItems([item]).withColumn("m", sql("MAP {'x': 'nan'::DOUBLE}")).writeJson(out, { mode: "append" });
  const lines = filesBelow(out).map((file) => JSON.parse(readFileSync(join(out, file), "utf8")));
  const plain = { v: null, list: [1, null], nested: [{ deep: [null] }], "a b": { w: 1.5 }, none: null };
  expect(lines).toContainEqual(plain);
  expect(lines).toContainEqual({ ...plain, m: { x: null } });
});
