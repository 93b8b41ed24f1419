/** Tasks of one operator need not agree: columns in another order, or only nulls where others know a type. */
import { join } from "node:path";
import { col, type Dataset, RowShapeError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../../support/sessions.ts";

const sessions = testSessions("uneven-blocks");
const s = sessions.open({ workers: 1, preserveOrder: true });

interface Uneven {
  id: number;
  text: string | null;
  nested: { a: number | null; list: string[] } | null;
}

/** The first of four tasks gives nothing but nulls, the second empty things, the others values. */
function uneven(): Dataset<Uneven> {
  return s.range(8, { overrideNumBlocks: 4 }).map((row) => ({
    id: row.id,
    text: row.id < 4 ? null : `t${row.id}`,
    nested: row.id < 2 ? null : row.id < 4 ? { a: null, list: [] } : { a: row.id, list: ["x"] },
  }));
}

const expected: Uneven[] = Array.from({ length: 8 }, (_, id) => ({
  id,
  text: id < 4 ? null : `t${id}`,
  nested: id < 2 ? null : id < 4 ? { a: null, list: [] } : { a: id, list: ["x"] },
}));

describe("blocks that know more or less of a type", () => {
  test("[A10] SQL over a materialised result keeps every value", async () => {
    await using kept = await uneven().materialize();
    const rows = await kept.withColumn("next", col("id").add(1)).takeAll();
    expect(rows).toEqual(expected.map((row) => ({ ...row, next: row.id + 1 })));
  });

  test("[A6] nulls of no type stay so through SQL, and fit what comes later", async () => {
    const after = uneven().withColumn("upper", col("text").upper());
    await using kept = await after.map((row) => ({ ...row })).materialize();
    const rows = await kept.filter(col("id").ge(0)).takeAll();
    expect(rows).toEqual(expected.map((row) => ({ ...row, upper: row.text === null ? null : row.text.toUpperCase() })));
    expect((await after.toArrow()).numRows).toBe(8);
  });

  test("[A11] Arrow files of them are read back as one", async () => {
    const directory = join(sessions.directory, "uneven");
    await uneven().writeArrow(directory);
    expect(await s.readArrow(directory).takeAll()).toEqual(expected);
    expect(await s.readArrow(directory, { overrideNumBlocks: 1 }).filter(col("id").ge(0)).takeAll()).toEqual(expected);
  });
});

describe("blocks whose columns differ", () => {
  test("[A10] another order is no other data", async () => {
    const mixed = s
      .range(4, { overrideNumBlocks: 2 })
      .map((row) => (row.id < 2 ? { a: row.id, b: `b${row.id}` } : { b: `b${row.id}`, a: row.id }));
    await using kept = await mixed.materialize();
    expect(await kept.withColumn("c", col("a").add(1)).takeAll()).toEqual(
      [0, 1, 2, 3].map((a) => ({ a, b: `b${a}`, c: a + 1 })),
    );
  });

  test("[A14] another type is an error that names the column", async () => {
    const mixed = s
      .range(4, { overrideNumBlocks: 2 })
      .map((row): Record<string, unknown> => ({ a: row.id < 2 ? row.id : "text" }));
    // Wherever blocks of several tasks meet: here, and where they are kept.
    for (const meet of [() => mixed.withColumn("b", col("a")).takeAll(), () => mixed.materialize()]) {
      const failure = await meet().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(RowShapeError);
      expect(String(failure)).toContain('column "a" has numbers in some rows and texts in others');
    }
  });
});
