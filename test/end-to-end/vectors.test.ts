/** Vectors: lists of numbers of one size, through functions and files, and how far they are from each other. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { col, type Dataset, KernelError, OptionError, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("vectors");
const s = sessions.open({ preserveOrder: true });
const at = (name: string) => join(sessions.directory, name);

const rows = [
  { id: 1, v: Float32Array.of(1, 0, 0.5) },
  { id: 2, v: Float32Array.of(0, 2, 0) },
  { id: 3, v: null },
];
const lists = s.fromItems<{ id: number; v: Float32Array | null }>(rows);
const vectors = s.fromItems<{ id: number; v: Float32Array | null }>(rows, { schema: { v: "FLOAT[3]" } });
const values = [[1, 0, 0.5], [0, 2, 0], null];

describe("[A13] lists of one size", () => {
  test("[A13] keep type and size through functions and files", async () => {
    const mapped = vectors.map((row) => ({ ...row, more: 1 }));
    await vectors.writeParquet(at("plain"));
    await mapped.writeParquet(at("mapped"));
    await vectors.writeParquet(at("folders"), { partitionBy: "id" });
    await mapped.writeParquet(at("pieces"), { partitionBy: "id", maxRowsPerFile: 1 });
    await mapped.writeArrow(at("arrow"));
    const read = [at("plain"), at("mapped"), at("folders"), at("pieces")].map((path) => s.readParquet(path));
    const datasets: readonly Dataset[] = [
      mapped,
      vectors.mapBatches((batch) => batch),
      s.readArrow(at("arrow")),
      ...read,
    ];
    for (const dataset of datasets) {
      expect(String(await dataset.schema())).toContain("v: FLOAT[3]");
      const sorted = await dataset.sort("id").select("v").takeAll();
      expect(sorted.map(({ v }) => v)).toEqual(values);
    }
  });

  test("[A13] Float32Array is a list of FLOAT where no size is declared", async () => {
    await lists.map((row) => ({ id: row.id, v: row.v })).writeParquet(at("lists"));
    const read = s.readParquet(at("lists"));
    expect(String(await read.schema())).toContain("v: FLOAT[]");
    expect((await read.takeAll()).map(({ v }) => v)).toEqual(values);
  });

  test("[A13] files of two sizes are read as lists", async () => {
    await vectors.writeParquet(at("sizes"));
    await s.fromItems([{ id: 4, v: [7] }], { schema: { v: "FLOAT[1]" } }).writeParquet(at("sizes"), { mode: "append" });
    const read = s.readParquet(at("sizes"));
    expect(String(await read.schema())).toContain("v: FLOAT[]");
    expect(await read.where(col("v").listLength().eq(1)).takeAll()).toEqual([{ id: 4, v: [7] }]);
  });

  test("[A13] the size that Polars wrote into a Parquet file is known", async () => {
    const read = s.readParquet(fileURLToPath(new URL("data/vectors-polars.parquet", import.meta.url)));
    expect(String(await read.schema())).toContain("v: FLOAT[3]");
    expect((await read.takeAll()).map(({ v }) => v)).toEqual([[1, 2, 3], null]);
    expect(await read.select(col("v").dot([1, 1, 1]).as("sum")).takeAll()).toEqual([{ sum: 6 }, { sum: null }]);
  });
});

describe("[A3] distances", () => {
  const query = [3, 4, 0];

  test.each([
    ["lists", lists],
    ["lists of one size", vectors],
  ])("[A3] of %s, to an array, typed arrays and a column; null where a vector is null", async (_, dataset) => {
    for (const other of [query, Float32Array.from(query), Float64Array.from(query), sql("[3.0, 4.0, 0.0]::DOUBLE[]")]) {
      const compared = dataset.select(
        col("v").dot(other).as("dot"),
        col("v").l2Distance(other).as("far"),
        col("v").cosineSimilarity(other).as("like"),
      );
      const [first, second, third] = await compared.takeAll();
      expect(first?.dot).toBeCloseTo(3, 5);
      expect(first?.far).toBeCloseTo(Math.sqrt(4 + 16 + 0.25), 5);
      expect(first?.like).toBeCloseTo(3 / (5 * Math.sqrt(1.25)), 5);
      expect(second?.dot).toBeCloseTo(8, 5);
      expect(second?.like).toBeCloseTo(0.8, 5);
      expect(third).toEqual({ dot: null, far: null, like: null });
    }
    expect(await dataset.select(col("v").dot(col("v")).as("own")).takeAll()).toEqual([
      { own: 1.25 },
      { own: 4 },
      { own: null },
    ]);
  });

  test("[A3] the nearest first, also after a function", async () => {
    const near = vectors.map((row) => ({ ...row })).dropNull(["v"]);
    const nearest = near
      .sort(col("v").l2Distance([0, 2, 0.5]))
      .select("id")
      .limit(1);
    expect(await nearest.takeAll()).toEqual([{ id: 2 }]);
    expect(
      await near
        .where(col("v").cosineSimilarity([1, 0, 0]).gt(0.5))
        .select("id")
        .takeAll(),
    ).toEqual([{ id: 1 }]);
  });

  test("[A3] what has no direction has no angle: NaN, not that it is opposite", async () => {
    const odd = [
      { v: [0, 0] },
      { v: [Number.NaN, 1] },
      { v: [Number.POSITIVE_INFINITY, 1] },
      { v: null },
      { v: [2, 2] },
    ];
    for (const schema of ["DOUBLE[]", "FLOAT[2]"]) {
      const found = await s
        .fromItems<{ v: number[] | null }>(odd, { schema: { v: schema } })
        .select(col("v").cosineSimilarity([1, 1]).as("like"), col("v").cosineSimilarity(col("v")).as("own"))
        .takeAll();
      expect(found.slice(0, 4).map(({ like }) => like)).toEqual([Number.NaN, Number.NaN, Number.NaN, null]);
      expect(found.slice(0, 4).map(({ own }) => own)).toEqual([Number.NaN, Number.NaN, Number.NaN, null]);
      expect(found[4]?.like).toBeCloseTo(1, 6);
    }
  });

  test("[A3] what cannot be compared is told", async () => {
    const compared = (other: readonly number[], dataset = lists) =>
      dataset.select(col("v").dot(other).as("x")).takeAll();
    await expect(compared([1, 2])).rejects.toThrow(/dot: a vector of 3 numbers cannot be compared with one of 2/);
    await expect(compared([1, 2], vectors)).rejects.toThrow(KernelError);
    const holes = s.fromItems([{ v: [1, null] }]);
    await expect(holes.select(col("v").l2Distance([1, 2]).as("x")).takeAll()).rejects.toThrow(
      /l2Distance: a vector has a null inside/,
    );
    const numbers = s.fromItems([{ v: 1 }]);
    await expect(numbers.select(col("v").cosineSimilarity([1]).as("x")).takeAll()).rejects.toThrow(
      /cosineSimilarity: takes lists of numbers, but got DOUBLE/,
    );
    expect(() => col("v").dot([])).toThrow(/dot: the other vector is empty/);
    expect(() => col("v").dot([1, Number("x"), JSON.parse("null")])).toThrow(OptionError);
  });
});
