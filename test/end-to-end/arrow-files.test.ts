/**
 * Arrow files of other writers, from their first byte to rows, groups and joins. The files: test/arrow/data/make.py.
 */
import { fileURLToPath } from "node:url";
import { count, SourceError } from "spillway";
import { describe, expect, test } from "vitest";
import { withZstd } from "../support/requires.ts";
import { testSessions } from "../support/sessions.ts";

const s = testSessions("arrow-files").open({ preserveOrder: true });
const file = (name: string) => fileURLToPath(new URL(`../arrow/data/${name}`, import.meta.url));

/** What make.py gave Polars in row i. */
function row(i: number): Record<string, unknown> {
  const values = {
    bool: i % 2 === 0,
    uint64: i,
    float32: i / 4,
    text: `${i}, longer than a view holds`.repeat(i % 2),
    bytes: new Uint8Array(i).fill(i),
    date: new Date(Date.UTC(2020, 0, 1 + i)),
    moment: new Date(Date.UTC(2020, 0, 1, i % 24)),
    time: (i % 24) * 3_600_000,
    duration: i * 1000,
    decimal: i / 4,
    category: `word ${i % 5}`,
    enum: `word ${i % 5}`,
    list: Array.from({ length: i % 4 }, (_, j) => `a text of a list, ${j}`),
    array: [i / 2, i / 4],
    struct: { x: i, y: `text ${i}` },
  };
  return i % 7 === 3 ? Object.fromEntries(Object.keys(values).map((name) => [name, null])) : values;
}

const rows = Array.from({ length: 60 }, (_, i) => row(i));

describe("Arrow files of Polars", () => {
  test.each([
    ["as it writes by default", "polars.arrow"],
    ["compressed with lz4", "polars.lz4.arrow"],
    ["for older readers", "polars.older.arrow"],
  ])("[A1] %s: every type", async (_, name) => {
    expect(await s.readArrow(file(name)).takeAll()).toEqual(rows);
  });

  withZstd.test("[A1] compressed with zstd, where this Node has it", async () => {
    expect(await s.readArrow(file("polars.zstd.arrow")).takeAll()).toEqual(rows);
  });

  test("[A1] their types are those of the footer, also where there are no rows", async () => {
    const empty = s.readArrow(file("polars.empty.arrow"));
    expect(await empty.takeAll()).toEqual([]);
    const types = String(await empty.schema());
    expect(types).toBe(String(await s.readArrow(file("polars.arrow")).schema()));
    for (const type of ["text: VARCHAR", "category: VARCHAR", "array: FLOAT[2]", "decimal: DECIMAL(12,2)"]) {
      expect(types).toContain(type);
    }
  });

  test("[A1] several of them, grouped and joined", async () => {
    const both = s.readArrow([file("polars.arrow"), file("polars.lz4.arrow")]);
    const groups = await both.groupBy("category").agg({ n: count() }).sort("category").takeAll();
    const named = rows.filter(({ category }) => category === "word 0");
    expect(groups[0]).toEqual({ category: "word 0", n: 2 * named.length });
    const words = s.readArrow(file("polars.older.arrow")).select("enum").distinct();
    expect(await both.join(words, { leftOn: "category", rightOn: "enum", how: "semi" }).count()).toBe(
      2 * rows.filter(({ category }) => category !== null).length,
    );
  });

  test("[A1] a type that is not read is named, with its column and file", async () => {
    const reading = s.readArrow(file("polars.int128.arrow")).takeAll();
    await expect(reading).rejects.toThrow(SourceError);
    await expect(reading).rejects.toThrow(/polars\.int128\.arrow.*Column "n".*int128/);
  });
});
