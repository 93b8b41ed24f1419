/** Folders of partitions: their names, and that readers and modes find them. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { sql, UnknownColumnError, WriteError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("partition-folders");
const s = sessions.open();
let outs = 0;
const fresh = () => join(sessions.directory, `out-${outs++}`);

/** Every name below a directory, hidden ones included. */
function namesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map(String).sort();
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

const overwrite = { mode: "overwrite" } as const;

describe("partition folders that look hidden", () => {
  test.each(["_id", ".k", "_", "."])(
    "[A11] partitionBy %s: readers, patterns and modes find the files",
    async (key) => {
      const out = fresh();
      const rows = s.fromItems([
        { [key]: "a", v: 1 },
        { [key]: "b", v: 2 },
      ]);
      await rows.writeParquet(out, { partitionBy: key });
      const back = await s.readParquet(out).sort("v").takeAll();
      expect(back).toEqual([
        { v: 1, [key]: "a" },
        { v: 2, [key]: "b" },
      ]);
      expect(await s.readParquet(`${out}/*/*.parquet`).count()).toBe(2);
      expect(await s.readParquet(`${out}/**/*.parquet`).count()).toBe(2);
      await expect(rows.writeParquet(out, { partitionBy: key })).rejects.toThrow(/already has data/);
      await s.range(3).writeParquet(out, overwrite);
      expect(await s.readParquet(out).count()).toBe(3);
    },
  );
});

describe("odd partition values", () => {
  const formats = ["Parquet", "Csv", "Json", "Arrow"] as const;

  test.each(formats)("[A11] write%s: texts of all kinds are folders of their own and come back", async (format) => {
    const out = fresh();
    const texts = [
      ".",
      "..",
      "../x",
      "a/b",
      "a=b",
      "100%",
      "%41",
      "+",
      " ",
      "*",
      "[a]{b}?",
      "é漢字😀",
      "a\nb",
      "it's",
      "",
      "~",
    ];
    const rows = s.fromItems([null, ...texts].map((k, v) => ({ k, v })));
    const { files } = await rows[`write${format}`](out, { partitionBy: "k" });
    expect(new Set(files.map(dirname)).size).toBe(texts.length + 1);
    expect(new Set(files.map((file) => dirname(dirname(file))))).toEqual(new Set([out]));
    const back = await s[`read${format}`](out).sort("v").takeAll();
    expect(back.map((row) => row.k)).toEqual([null, ...texts]);
    await rows[`write${format}`](out, { ...overwrite, partitionBy: "k" });
    expect(namesBelow(out).length).toBe(2 * (texts.length + 1));
  });

  test.each(formats)("[A11] write%s: bytes are folders, escaped", async (format) => {
    const out = fresh();
    await s.range(2).withColumn("k", sql("'\\xAA\\x2F'::BLOB"))[`write${format}`](out, { partitionBy: "k" });
    expect(readdirSync(out)).toEqual(["k=%5CxAA%2F"]);
    expect(await s[`read${format}`](out).count()).toBe(2);
  });

  test.each(formats)(
    "[A11] write%s: a value that is too long for a folder is an error of the directory",
    async (format) => {
      const out = fresh();
      for (const rows of [s.range(2), s.range(2).map((row) => ({ id: row.id }))]) {
        const failing = rows.withColumn("k", sql("repeat('x', 300)"))[`write${format}`](out, { partitionBy: "k" });
        await expect(failing).rejects.toThrow(WriteError);
        await expect(failing).rejects.toThrow(`${out} cannot be written`);
        await expect(failing).rejects.toMatchObject({ path: out });
      }
      expect(existsSync(out)).toBe(false);
    },
  );

  test("[A11] a failure to write is not blamed on the files that are read", async () => {
    const source = fresh();
    const out = fresh();
    await s.range(2).withColumn("k", sql("repeat('x', 300)")).writeCsv(source);
    await expect(s.readCsv(source).writeCsv(out, { partitionBy: "k" })).rejects.toMatchObject({
      name: "WriteError",
      path: out,
    });
  });

  test.each(formats)('[A11] write%s: a column that is called "*" is one column', async (format) => {
    const out = fresh();
    const rows = s.range(4).withColumn("*", sql("id % 2"));
    for (const each of [rows, rows.map((row) => row)]) {
      await each[`write${format}`](out, { ...overwrite, partitionBy: "*" });
      const back = await s[`read${format}`](out).sort("id").takeAll();
      expect(back).toEqual([0, 1, 2, 3].map((id) => ({ id, "*": id % 2 })));
    }
    const none = s.range(4).map((row): Record<string, unknown> => row);
    await expect(none[`write${format}`](fresh(), { partitionBy: "*" })).rejects.toThrow(UnknownColumnError);
  });
});

describe.each([
  ["after a function", s.range(10).map((row) => ({ id: row.id, k: 2024 + (row.id % 2) }))],
  ["without one", s.range(10, { overrideNumBlocks: 1 }).withColumn("k", sql("(2024 + id % 2)::DOUBLE"))],
])("partitions %s", (_, ds) => {
  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)(
    "[A11] write%s names folders of whole numbers without a fraction",
    async (format) => {
      const out = fresh();
      await ds[`write${format}`](out, { partitionBy: ["k"] });
      expect(readdirSync(out).sort()).toEqual(["k=2024", "k=2025"]);
      const back = await s[`read${format}`](out).takeAll();
      expect(back.map((row) => Number(row.id)).sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
      expect(back.every((row) => Number(row.k) === 2024 + (Number(row.id) % 2))).toBe(true);
    },
  );

  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)(
    "[A11] write%s cuts files by rows within a partition, and no smaller",
    async (format) => {
      const out = fresh();
      const written = await ds.limit(10)[`write${format}`](out, { partitionBy: ["k"], maxRowsPerFile: 2 });
      expect(written.rows).toBe(10);
      expect(filesBelow(out).length).toBe(6);
      const counts = await Promise.all(filesBelow(out).map((file) => s[`read${format}`](join(out, file)).count()));
      expect(counts.sort()).toEqual([1, 1, 2, 2, 2, 2]);
    },
  );
});

test("[A11] a fraction in a partition stays, and nulls and infinities have their folders", async () => {
  const out = fresh();
  const keys = [1.5, 2, null, Number.POSITIVE_INFINITY];
  await s.fromItems(keys.map((k, id) => ({ id, k }))).writeParquet(out, { partitionBy: ["k"] });
  expect(readdirSync(out).sort()).toEqual(["k=1.5", "k=2", "k=__HIVE_DEFAULT_PARTITION__", "k=inf"]);
});
