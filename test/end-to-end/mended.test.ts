/** What a trial of the whole found broken, each as the behaviour that it should have. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { RowShapeError, StoreError, sql, UnknownColumnError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("mended");
const s = sessions.open();
let outs = 0;
const fresh = () => join(sessions.directory, `out-${outs++}`);

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

describe("columns that only running tells", () => {
  const more = s.range(2).map((row) => ({ id: row.id, z: 1 }));

  test("[A6] a union of different columns is refused, whichever side has more and whoever reads", async () => {
    const fewer = s.range(2).map((row) => ({ id: row.id }));
    for (const ds of [more.union(fewer as never), fewer.union(more), more.union(s.range(2) as never)]) {
      await expect(ds.takeAll()).rejects.toThrow(RowShapeError);
      await expect(ds.takeAll()).rejects.toThrow(/union: the columns differ: "z" is in rows of .*map/);
      await expect(ds.writeParquet(fresh())).rejects.toThrow(/"z"/);
    }
  });

  test("[A2] a column that a function says it reads and does not get is refused", async () => {
    const columns = ["idd"];
    for (const ds of [
      more.map((row) => row, { columns }),
      more.filter(() => true, { columns }),
      more.flatMap((row) => [row], { columns }),
      more.mapBatches((batch) => batch, { columns }),
      more.withColumn("y", sql("z + 1")).map((row) => row, { columns }),
    ]) {
      await expect(ds.takeAll()).rejects.toThrow(UnknownColumnError);
      await expect(ds.takeAll()).rejects.toThrow(/there is no column "idd". Did you mean "id"/);
    }
    expect(await more.map((row) => row, { columns: ["id"] }).count()).toBe(2);
  });

  test("[A6] a union of the same columns in another order is by name", async () => {
    const turned = s.range(2).map((row) => ({ z: 2, id: row.id }));
    const rows = await more.union(turned).takeAll();
    expect(rows.map(({ id, z }) => `${id}:${z}`).sort()).toEqual(["0:1", "0:2", "1:1", "1:2"]);
  });

  test("[A2] tasks of one function that return different columns are refused", async () => {
    const ragged = s.range(4, { overrideNumBlocks: 2 }).map((row) => (row.id < 2 ? { a: 1 } : { b: 1 }));
    await expect(ragged.takeAll()).rejects.toThrow(/Return the same columns for every row/);
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

test("[A13] mapBatches gives Arrow tables the values that were asked for", async () => {
  const seen = (table: { getChild(name: string): { at(row: number): unknown } }, name: string) => {
    const value = table.getChild(name).at(0);
    return value instanceof Date ? "date" : typeof value;
  };
  const ds = s.range(1).withColumn("t", sql("TIMESTAMP '2024-01-01'"));
  const kinds = async (options: { int64?: "bigint" | "number"; timestamp?: "date" | "bigint" }) =>
    ds
      .mapBatches((table) => [{ id: seen(table as never, "id"), t: seen(table as never, "t") }], {
        batchFormat: "arrow",
        ...options,
      })
      .takeAll();
  expect(await kinds({})).toEqual([{ id: "number", t: "date" }]);
  expect(await kinds({ int64: "bigint", timestamp: "bigint" })).toMatchObject([{ id: "bigint" }]);
  expect(await kinds({ timestamp: "bigint" })).not.toMatchObject([{ t: "date" }]);
});

describe("sources", () => {
  const write = (name: string, content: string) => {
    const path = join(sessions.directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return path;
  };

  test("[A1] a CSV file that lacks a column is named", async () => {
    write("lacking/a.csv", "id,b\n1,x\n");
    const path = write("lacking/b.csv", "id\n2\n");
    const apart = s.readCsv(join(sessions.directory, "lacking"), { overrideNumBlocks: 2 });
    await expect(apart.takeAll()).rejects.toMatchObject({ name: "SourceError", path });
    await expect(apart.takeAll()).rejects.toThrow(`${path} has no column "b"`);
    const together = s.readCsv(join(sessions.directory, "lacking"), { overrideNumBlocks: 1 });
    await expect(together.takeAll()).rejects.toThrow(`${path} has no column "b"`);
  });

  test("[A1] readJson with ignoreErrors leaves broken lines out, and keeps rows of nothing", async () => {
    const path = write("broken.json", '{"a b":1,"c":[1]}\nxx\n{"a b":3,"c":null}\n{}\n');
    const rows = await s.readJson(path, { ignoreErrors: true, includePaths: true }).takeAll();
    expect(rows.map((row) => row["a b"])).toEqual([1, 3, null]);
    expect(rows.every((row) => row.path === path)).toBe(true);
  });
});

describe("what errors say", () => {
  test("[A13] a value past 2^53 inside a function: which operator and which row", async () => {
    const big = s.range(3).withColumn("x", sql("9007199254740991::BIGINT + id"));
    await expect(big.map((row) => row).takeAll()).rejects.toThrow(/^map, row 1: Column "x" holds/);
    await expect(big.filter((row) => Number(row.x) > 0).takeAll()).rejects.toThrow(/^filter, row 1: Column "x" holds/);
  });

  test("[A14] a stack has the user's frames only", async () => {
    const boom = (): never => {
      throw new Error("boom");
    };
    const failing = [
      s.range(1).filter(() => boom()),
      s.range(1).map(() => boom()),
      s.range(1).mapBatches(() => boom()),
    ];
    for (const ds of failing as { takeAll(): Promise<unknown> }[]) {
      const error = await ds.takeAll().catch((thrown: Error) => thrown);
      expect(String(error)).toMatch(/ at .*mended\.test\.ts/);
      expect(String(error)).not.toMatch(/FilterFunctionStep|Object\.call/);
    }
  });

  test("[A3] a failing constructor shows where", async () => {
    class Broken {
      constructor() {
        throw new Error("no model");
      }
      call(batch: { id: number[] }) {
        return batch;
      }
    }
    await expect(
      s
        .range(1)
        .mapBatches(Broken as never)
        .takeAll(),
    ).rejects.toThrow(/no model\n.*at new Broken .*mended/);
  });

  test("[A7] a function with many forms lists five of them", async () => {
    const error = await s
      .range(1)
      .withColumn("x", sql("date_part(1, 2, 3)"))
      .takeAll()
      .catch((thrown: Error) => thrown);
    expect(
      String(error)
        .split("\n")
        .filter((line) => line.startsWith("\tdate_part")).length,
    ).toBe(5);
    expect(String(error)).toMatch(/… and \d+ more/);
  });

  test("[A7] an unknown column in SQL: all the columns there are, and not only those that the kernel thought of", async () => {
    const ds = s.range(1).map(() => ({ alpha: 1, beta: 2 }));
    await expect(ds.withColumn("x", sql("nope + 1")).takeAll()).rejects.toThrow(
      /no column "nope".* Columns here: alpha, beta/,
    );
  });

  test("[A5] explode of a column that is no list", async () => {
    await expect(s.range(1).explode("id").takeAll()).rejects.toThrow(/needs a column of lists, and "id" is BIGINT/);
    const mapped = s.range(1).map(() => ({ 'a"b': 1 }));
    await expect(mapped.explode('a"b').takeAll()).rejects.toThrow(/and "a"b" is DOUBLE/);
  });

  test("[A12] explain counts one task as one", async () => {
    expect(await s.range(1).explain()).toContain(": 1 task\n");
  });
});

describe("[A13] ISO text for declared dates and times", () => {
  const given = (type: string, text: string) => s.range(1).map(() => ({ v: text }), { schema: { v: type } });
  const read = async (type: string, text: string) =>
    (await given(type, text).select(sql("v::VARCHAR").as("v")).takeAll())[0]?.v;

  test.each([
    ["DATE", "2024-02-29", "2024-02-29"],
    ["DATE", "0001-01-01", "0001-01-01"],
    ["TIMESTAMP", "2024-01-01", "2024-01-01 00:00:00"],
    ["TIMESTAMP", "2024-01-01T10:20:30.123456Z", "2024-01-01 10:20:30.123456"],
    ["TIMESTAMP", "2024-01-01 10:20", "2024-01-01 10:20:00"],
    ["TIMESTAMP", "1969-12-31T23:59:59.5+01:00", "1969-12-31 22:59:59.5"],
    ["TIMESTAMP_NS", "2024-01-01T00:00:00.000000001", "2024-01-01 00:00:00.000000001"],
  ])("%s takes %s", async (type, text, expected) => {
    expect(await read(type, text)).toBe(expected);
  });

  test.each([
    ["DATE", "2024-02-30", /text must be a date as in "2024-01-31"/],
    ["DATE", "1/2/2024", /text must be a date/],
    ["TIMESTAMP", "2024-01-01T25:00", /text must be a time/],
    ["TIMESTAMP", "2024-01-01T00:00:00.0000001", /finer than the column/],
  ])("%s refuses %s", async (type, text, message) => {
    await expect(given(type, text).takeAll()).rejects.toThrow(message);
  });
});

describe("session options", () => {
  test("[A15] what cannot be is said before anything starts", () => {
    expect(() => sessions.open({ memoryLimit: "10 MiB" })).toThrow(/memoryLimit of 10.0 MiB is too small.*64.0 MiB/);
    expect(() => sessions.open({ eager: "yes" } as never)).toThrow('session: eager must be true or false, not "yes".');
    expect(() => sessions.open({ wokers: 2 } as never)).toThrow('no option "wokers". Did you mean "workers"?');
    expect(() => sessions.open({ worker: 2 } as never)).toThrow('Did you mean "workers"?');
  });

  test("[A15] a store that cannot be made is a StoreError", async () => {
    const large = sessions.open({ objectStoreMemory: "900 TiB" });
    const error = await large
      .range(1)
      .takeAll()
      .catch((thrown: Error) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(String(error)).toMatch(/^StoreError: The store needs 900 TiB: .* Choose a smaller objectStoreMemory/);
    expect(String(error)).not.toContain("    at ");
  });

  test("[A15] a local directory that was not there before is not there afterwards", async () => {
    const outer = join(sessions.directory, "outer");
    const one = sessions.open({ localDirectory: join(outer, "inner"), workers: 1 });
    expect(await one.range(3).count()).toBe(3);
    await one.close();
    expect(existsSync(outer)).toBe(false);
  });
});
