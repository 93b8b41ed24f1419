/**
 * Half of a surrogate pair is no character: it is refused wherever a text comes in, because all halves become one in
 * UTF-8.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type AnyRow,
  col,
  type Dataset,
  FunctionError,
  lit,
  OptionError,
  RowShapeError,
  sql,
  ValueError,
} from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("half-characters");
const HIGH = "\ud800";
const LOW = "\udc00";
const remedy = "toWellFormed()";

async function thrownBy(run: () => Promise<unknown>): Promise<unknown> {
  return run().then(
    () => null,
    (thrown: unknown) => thrown,
  );
}

describe.each([{ exchange: false }, { exchange: true }])("exchange $exchange", ({ exchange }) => {
  const s = sessions.open({ exchange, preserveOrder: true });

  test("[A13] what functions give is refused with column, row and remedy, nested texts too", async () => {
    const rows = () => s.range(10, { overrideNumBlocks: 1 });
    const broken: Readonly<Record<string, (text: string) => unknown>> = {
      text: (text) => text,
      list: (text) => ["a", text],
      struct: (text) => ({ deep: { text } }),
      value: (text) => new Map([["a", text]]),
      key: (text) => new Map([[text, 1]]),
    };
    for (const [kind, make] of Object.entries(broken)) {
      const one = (id: number) => make(id === 7 ? `ab${HIGH}c` : "\u{1f600}\ufffd");
      const made: readonly (readonly [Dataset, string])[] = [
        [rows().map(({ id }) => ({ [kind]: one(id) })), "row 7"],
        [rows().flatMap(({ id }) => [{ [kind]: one(0) }, { [kind]: one(id) }]), "row 7"],
        [rows().map(async ({ id }) => ({ [kind]: one(id) })), "row 7"],
        [rows().mapBatches(({ id }) => ({ [kind]: Array.from(id, one) })), "Row 7 of the result"],
        [
          rows().mapBatches((batch) => batch.map(({ id }) => ({ [kind]: one(id) })), { batchFormat: "rows" }),
          "Row 7 of the result",
        ],
        [
          rows()
            .groupBy(lit(1).as("k"))
            .mapGroups((group) => group.map(({ id }) => ({ [kind]: one(id) })), { batchFormat: "rows" }),
          "Row 7 of the result",
        ],
      ];
      for (const [dataset, place] of made) {
        const error = await thrownBy(() => dataset.takeAll());
        expect(error, kind).toBeInstanceOf(FunctionError);
        for (const part of [place, `Column "${kind}`, "\\ud800 at position 2", remedy]) {
          expect(String(error), kind).toContain(part);
        }
      }
    }
  });

  test("[A8] keys that differ in a half stay apart from all others: the rows are dropped, exactly those", async () => {
    const letters = join(sessions.directory, `letters-${exchange}`);
    const keys = (onError: "skip" | { readonly deadLetter: string }) =>
      s
        .range(60, { overrideNumBlocks: 3 })
        .map(({ id }) => ({ id, k: ["a", "\ufffd", "\u{1f600}", HIGH, LOW, `${LOW}${HIGH}`][id % 6] ?? "" }), {
          onError,
        });
    const n = await keys("skip")
      .groupBy("k")
      .agg({ n: col("id").count() })
      .sort("k")
      .takeAll();
    expect(n).toEqual([
      { k: "a", n: 10 },
      { k: "\ufffd", n: 10 },
      { k: "\u{1f600}", n: 10 },
    ]);
    expect(await keys({ deadLetter: letters }).count()).toBe(30);
    const lines = readdirSync(letters).flatMap((file) => readFileSync(join(letters, file), "utf8").trim().split("\n"));
    const ids = lines.map((line): number => JSON.parse(line).value.id).sort((a, b) => a - b);
    expect(ids).toEqual(Array.from({ length: 60 }, (_, id) => id).filter((id) => id % 6 > 2));
  });

  test("[A13] halves in rows next to each other do not become a character", async () => {
    const rows = s.range(2).map(({ id }) => ({ text: id === 0 ? "a\ud83d" : "\ude00b" }), { onError: "skip" });
    expect(await rows.takeAll()).toEqual([]);
  });
});

test("[A13] fromItems refuses halves in values, in names of columns and of fields", () => {
  const s = sessions.open();
  const refused = (
    rows: readonly AnyRow[],
    type: typeof ValueError | typeof RowShapeError,
    ...parts: readonly string[]
  ) => {
    try {
      s.fromItems(rows);
      expect.unreachable(parts.join());
    } catch (error) {
      expect(error).toBeInstanceOf(type);
      for (const part of [...parts, "half of a surrogate pair", remedy]) expect(String(error)).toContain(part);
    }
  };
  refused([{ a: "x" }, { a: HIGH }], ValueError, "Row 1 of fromItems", 'Column "a"', '"\\ud800"');
  refused([{ a: { b: ["x", LOW] } }], ValueError, "Row 0 of fromItems", 'Column "a.b[]"');
  refused([{ [HIGH]: 1 }], RowShapeError, "\\ud800");
  refused([{ a: { [LOW]: 1 } }], RowShapeError, 'Column "a"', "\\udc00");
  expect(() => s.fromItems([], { schema: { [HIGH]: "BIGINT" } })).toThrow("half of a surrogate pair");
  expect(() => s.range(1).map((row) => row, { schema: { [HIGH]: "BIGINT" } })).toThrow("half of a surrogate pair");
});

test("[A13] expressions, raw SQL and names refuse halves where they are written", async () => {
  const s = sessions.open();
  const rows: Dataset = s.range(3);
  const tries: Readonly<Record<string, () => unknown>> = {
    lit: () => lit(HIGH),
    nested: () => lit({ a: [HIGH] }),
    field: () => lit({ [HIGH]: 1 }),
    mapKey: () => lit(new Map([[HIGH, 1]])),
    equal: () => col("id").eq(HIGH),
    isIn: () => col("id").in([LOW]),
    contains: () => col("id").contains(LOW),
    fillNull: () => rows.fillNull(HIGH),
    sql: () => sql(`'${HIGH}'`),
    col: () => col(HIGH),
    as: () => col("id").as(HIGH),
    withColumn: () => rows.withColumn(HIGH, col("id")),
    rename: () => rows.rename({ id: HIGH }),
    drop: () => rows.drop(HIGH),
    groupBy: () => rows.groupBy(HIGH),
    agg: () => rows.groupBy("id").agg({ [HIGH]: col("id").sum() }),
    sort: () => rows.sort(HIGH),
  };
  for (const [name, attempt] of Object.entries(tries)) {
    const error = await thrownBy(async () => {
      const made = attempt();
      if (made instanceof Object && "takeAll" in made && typeof made.takeAll === "function") await made.takeAll();
    });
    expect(error, name).toBeInstanceOf(OptionError);
    expect(String(error), name).toContain("half of a surrogate pair");
  }
  const path = join(sessions.directory, "parts");
  const error = await thrownBy(() => rows.writeParquet(path, { partitionBy: HIGH }));
  expect(error).toBeInstanceOf(OptionError);
  expect(String(error)).toContain("half of a surrogate pair");
});

test("[A13] a half that a function refers to reaches it as it is", async () => {
  const s = sessions.open();
  const texts = [HIGH, `x${LOW}`];
  const codes = await s
    .range(1)
    .map(() => ({ codes: texts.map((text) => text.charCodeAt(text.length - 1)), own: "\ud801".charCodeAt(0) }))
    .takeAll();
  expect(codes).toEqual([{ codes: [0xd800, 0xdc00], own: 0xd801 }]);
});
