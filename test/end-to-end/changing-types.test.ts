/**
 * Tasks of one operator that do not agree: a column has another type, only nulls, or another place among the columns.
 * One rule, wherever the rows go.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { col, type Dataset, RowShapeError, type Session } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("changing-types");
const plain = sessions.open({ workers: 2 });
const exchanging = sessions.open({ workers: 2, exchange: true });
const ordered = sessions.open({ workers: 1, preserveOrder: true });
type Any = Dataset<Record<string, unknown>>;

const consumers: Readonly<Record<string, (ds: Any, s: Session, name: string) => Promise<unknown>>> = {
  takeAll: (ds) => ds.takeAll(),
  take: (ds) => ds.take(4),
  limit: (ds) => ds.limit(3).takeAll(),
  toArrow: (ds) => ds.toArrow(),
  materialize: async (ds) => (await ds.materialize()).count(),
  sort: (ds) => ds.sort("id").takeAll(),
  groupBy: (ds) => ds.groupBy("v").count().takeAll(),
  agg: (ds) =>
    ds
      .groupBy("id")
      .agg({ most: col("v").max() })
      .takeAll(),
  distinct: (ds) => ds.distinct().takeAll(),
  join: (ds, s) => ds.join(s.range(4), { on: "id" }).takeAll(),
  union: (ds) => ds.union(ds).takeAll(),
  repartition: (ds) => ds.repartition(1).takeAll(),
  mapGroups: (ds) =>
    ds
      .groupBy("id")
      .mapGroups((group) => group)
      .takeAll(),
  writeParquet: (ds, _, name) => ds.writeParquet(join(sessions.directory, name)),
  writeJson: (ds, _, name) => ds.writeJson(join(sessions.directory, name)),
  writeCsv: (ds, _, name) => ds.writeCsv(join(sessions.directory, name)),
  writeArrow: (ds, _, name) => ds.writeArrow(join(sessions.directory, name)),
};

const changing: Readonly<Record<string, (s: Session) => Any>> = {
  "numbers and texts": (s) =>
    s.range(4, { overrideNumBlocks: 4 }).map((row) => ({ id: row.id, v: row.id < 2 ? 1 : "a" })),
  "structs of other fields": (s) =>
    s.range(4, { overrideNumBlocks: 4 }).map((row) => ({ id: row.id, v: row.id < 2 ? { a: 1 } : { a: 1, b: 2 } })),
  "lists of numbers and of texts": (s) =>
    s.range(4, { overrideNumBlocks: 4 }).map((row) => ({ id: row.id, v: row.id < 2 ? [1] : ["a"] })),
};

describe("types that no column can hold both", () => {
  for (const [what, made] of Object.entries(changing)) {
    for (const [how, s] of [
      ["on one machine", plain],
      ["with exchange", exchanging],
    ] as const) {
      test(`[A2] ${what} are refused by every consumer, ${how}`, async () => {
        const taken: string[] = [];
        for (const [name, consume] of Object.entries(consumers)) {
          const place = `${what}-${how}-${name}`.replaceAll(" ", "-");
          const result = await consume(made(s), s, place).then(
            () => "no error",
            // Names that only the engine knows are no help.
            (error: unknown) =>
              error instanceof RowShapeError && !String(error).includes("__spillway_") ? "refused" : String(error),
          );
          if (result !== "refused") taken.push(`${name}: ${result}`);
          expect(existsSync(join(sessions.directory, place))).toBe(false);
        }
        expect(taken).toEqual([]);
      });
    }
  }
});

describe("types that one column can hold", () => {
  test("[A2] nulls that come first take the type of later values, wherever the rows go", async () => {
    for (const s of [plain, exchanging]) {
      const ds = () => s.range(4, { overrideNumBlocks: 4 }).map((row) => ({ id: row.id, v: row.id < 2 ? null : "a" }));
      for (const [name, consume] of Object.entries(consumers)) await consume(ds(), s, `nulls-${s === plain}-${name}`);
      expect(await ds().sort("id").takeAll()).toEqual([
        { id: 0, v: null },
        { id: 1, v: null },
        { id: 2, v: "a" },
        { id: 3, v: "a" },
      ]);
    }
  });

  test("[A2] whole numbers and fractions widen where rows meet", async () => {
    for (const s of [plain, exchanging]) {
      const ds = () => s.range(4, { overrideNumBlocks: 4 }).map((row) => ({ id: row.id, v: row.id < 2 ? 1n : 0.5 }));
      expect(await ds().sort(["v", "id"]).takeAll()).toEqual([
        { id: 2, v: 0.5 },
        { id: 3, v: 0.5 },
        { id: 0, v: 1 },
        { id: 1, v: 1 },
      ]);
      expect((await ds().takeAll()).length).toBe(4);
    }
  });
});

interface Uneven {
  id: number;
  text: string | null;
  nested: { a: number | null; list: string[] } | null;
}

/** The first of four tasks gives nothing but nulls, the second empty things, the others values. */
function uneven(): Dataset<Uneven> {
  return ordered.range(8, { overrideNumBlocks: 4 }).map((row) => ({
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
    expect(await ordered.readArrow(directory).takeAll()).toEqual(expected);
    expect(await ordered.readArrow(directory, { overrideNumBlocks: 1 }).filter(col("id").ge(0)).takeAll()).toEqual(
      expected,
    );
  });
});

describe("blocks whose columns differ", () => {
  test("[A10] another order is no other data", async () => {
    const mixed = ordered
      .range(4, { overrideNumBlocks: 2 })
      .map((row) => (row.id < 2 ? { a: row.id, b: `b${row.id}` } : { b: `b${row.id}`, a: row.id }));
    await using kept = await mixed.materialize();
    expect(await kept.withColumn("c", col("a").add(1)).takeAll()).toEqual(
      [0, 1, 2, 3].map((a) => ({ a, b: `b${a}`, c: a + 1 })),
    );
  });

  test("[A14] another type is an error that names the column", async () => {
    const mixed = ordered
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
