/** Names that columns cannot have are told where they come up, and those that look odd are only names. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AnyRow, col, count, type Dataset, OptionError, RowShapeError, ZipLengthError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("column-names");
const rows = Array.from({ length: 20 }, (_, id) => ({ id, a: id * 2 }));

describe.each([{ exchange: false }, { exchange: true }])("exchange $exchange", ({ exchange }) => {
  const s = sessions.open({ exchange });
  const items = (): Dataset => s.fromItems(rows);
  const made = (): Dataset => s.fromItems(rows).map((row) => row);
  const refused = async (dataset: Dataset, ...parts: readonly string[]) => {
    const error = await dataset.takeAll().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(OptionError);
    for (const part of parts) expect(String(error)).toContain(part);
  };

  test("[A7] reserved names and names with a NUL are refused by the operator that makes them", async () => {
    for (const from of [items, made]) {
      for (const [name, why] of [
        ["__spillway_k0", "reserved"],
        ["__SPILLWAY_partition", "reserved"],
        ["x\0y", "NUL"],
      ] as const) {
        await refused(from().withColumn(name, col("a")), "withColumn:", JSON.stringify(name), why);
        await refused(from().select(col("a").as(name)), "select:", why);
        await refused(from().rename({ a: name }), "rename:", why);
        await refused(
          from()
            .groupBy("id")
            .agg({ [name]: count() }),
          "agg:",
          why,
        );
      }
    }
  });

  test("[A7] columns that differ only in case are refused by name", async () => {
    const both = ['"a" and "A" differ only in case', "Rename one"];
    await refused(items().withColumn("A", col("id")), "withColumn:", ...both);
    await refused(items().rename({ id: "A" }), "rename:", '"A" and "a"');
    for (const from of [items, made]) {
      await refused(from().select(col("id").as("a"), col("a").as("A")), "select:", ...both);
      await refused(from().groupBy("a").agg({ A: count() }), "agg:", ...both);
    }
    expect(await items().select(col("a").as("A")).limit(1).takeAll()).toEqual([{ A: 0 }]);
  });

  test("[A7] rows of a program with such names are refused where they come in", async () => {
    const bad: readonly (readonly [AnyRow, string])[] = [
      [{ A: 1, a: 2 }, '"A" and "a" differ only in case'],
      [{ "": 1 }, "empty"],
      [{ "x\0": 1 }, "NUL"],
      [{ __spillway_row: 1 }, "reserved"],
    ];
    for (const [row, why] of bad) {
      expect(() => s.fromItems([row])).toThrow(RowShapeError);
      expect(() => s.fromItems([row])).toThrow(why);
      await expect(
        items()
          .map(() => row)
          .takeAll(),
      ).rejects.toThrow(why);
      const columns = Object.fromEntries(Object.entries(row).map(([name, value]) => [name, [value]]));
      await expect(
        items()
          .mapBatches(() => columns)
          .takeAll(),
      ).rejects.toThrow(why);
    }
    await refused(
      s.fromItems<AnyRow>([], { schema: { A: "BIGINT", a: "BIGINT" } }),
      "fromItems:",
      "differ only in case",
    );
  });

  test("[A7] a file with a reserved column is refused by its reader", async () => {
    const path = join(sessions.directory, "reserved.csv");
    writeFileSync(path, "id,__spillway_key\n1,2\n");
    await refused(s.readCsv(path), "readCsv:", "__spillway_key", "reserved");
  });

  test("[A1] [A7] names that every object has are columns like any other, in every reader", async () => {
    const names = ["__proto__", "constructor", "toString", "hasOwnProperty"];
    const odd = [1, 2, 3].map((n) => Object.fromEntries(names.map((name, i) => [name, n * 10 + i])));
    const into = (format: string) => join(sessions.directory, `objects-${exchange}-${format}`);
    const written = s.fromItems(odd);
    await written.writeParquet(into("parquet"));
    await written.writeCsv(into("csv"));
    await written.writeJson(into("json"));
    await written.writeArrow(into("arrow"));
    await written.writeParquet(into("partitions"), { partitionBy: ["constructor", "toString"] });
    for (const read of [
      s.readParquet(into("parquet")),
      s.readCsv(into("csv")),
      s.readJson(into("json")),
      s.readArrow(into("arrow")),
      s.readParquet(into("partitions")).select(...names),
    ]) {
      const mapped = read.map((row) => ({ ...row })).where(col("constructor").gt(0));
      const got = await mapped.sort("__proto__").takeAll();
      expect(got.map((row) => names.map((name) => row[name]))).toEqual(
        odd.map((row) => names.map((name) => row[name])),
      );
    }
  });

  test("[A7] a function that declares some types may make columns with names that every object has", async () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      const made = s.range(4).map(({ id }) => ({ id, ...Object.fromEntries([[name, id * 2]]) }), {
        schema: { id: "BIGINT" },
      });
      expect(await made.max(name as never)).toBe(6);
    }
  });

  test("[A7] letters beyond ASCII in another case are other columns", async () => {
    const accents = s.fromItems(rows.map(({ id }) => ({ É: id, é: -id })));
    expect(await accents.sort("é").limit(1).takeAll()).toEqual([{ É: 19, é: -19 }]);
  });

  test("[A9] a right column that differs only in case gets the suffix", async () => {
    const right = rows.map(({ id }) => ({ id, A: `right ${id}` }));
    const want = rows.map((row) => ({ ...row, A_right: `right ${row.id}` }));
    for (const from of [items, made]) {
      const joined = from().join(s.fromItems(right), { on: "id" });
      expect(await joined.sort("id").takeAll()).toEqual(want);
      expect(await joined.select("id", "A_right").sort("id").takeAll()).toEqual(
        want.map(({ id, A_right }) => ({ id, A_right })),
      );
      const zipped = from().zip(s.fromItems(right).drop("id"));
      expect(await zipped.takeAll()).toEqual(want);
    }
    await refused(
      items().join(s.fromItems([{ id: 1, A: 1, a_RIGHT: 2 }]), { on: "id" }),
      "join:",
      "differ only in case",
    );
  });

  test("[A9] a zip of unequal lengths says which side is longer, in its own words", async () => {
    for (const [dataset, longer] of [
      [items().zip(s.range(3)), "left"],
      [s.range(3).zip(items()), "right"],
    ] as const) {
      const error = await dataset.takeAll().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(ZipLengthError);
      expect(error).toMatchObject({ longer });
      expect(error).toHaveProperty(
        "message",
        expect.stringMatching(`^zip: the ${longer} dataset has more rows than the other`),
      );
    }
  });
});

test("[A8] a fraction that is a text is shown as one", () => {
  const fraction: unknown = "0.5";
  expect(() => col("a").quantile(fraction as number)).toThrow('the fraction is "0.5"; it must be from 0 to 1');
});
