/** Values and columns that look like what stands for tables in a step's SQL: they are the user's, in every operator. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { col, type Dataset, lit, type Session, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("placeholders");
const NAMES = ["{t0}", "{t1}", "{b0}", "{input}", "{columns x}", `it's "{t0}" '{input}'`];

type Row = Readonly<Record<string, string | number>>;
const rows: readonly Row[] = Array.from({ length: 60 }, (_, id) => ({
  id,
  ...Object.fromEntries(NAMES.map((name, i) => [name, NAMES[(id + i) % NAMES.length] ?? ""])),
}));
const byId = (a: Row, b: Row) => Number(a.id) - Number(b.id);
const path = join(sessions.directory, "rows.json");
writeFileSync(path, rows.map((row) => JSON.stringify(row)).join("\n"));

/**
 * The rows out of a file, as items, and after a function: read by SQL, out of blocks, and with columns that nobody
 * knows.
 */
const sources: Readonly<Record<string, (s: Session) => Dataset>> = {
  "a file": (s) => s.readJson(path),
  items: (s) => s.fromItems([...rows]),
  "a function": (s) => s.fromItems([...rows]).map((row) => row),
};

for (const exchange of [false, true]) {
  const s = sessions.open({ exchange });
  for (const [name, make] of Object.entries(sources)) {
    describe(`over ${name}, exchange ${exchange ? "on" : "off"}`, () => {
      const made = () => make(s);
      const sorted = async (dataset: Dataset) => ((await dataset.takeAll()) as Row[]).toSorted(byId);

      test.each(NAMES)("[A7] where, withColumn and select keep %s", async (text) => {
        const kept = made()
          .where(col(text).eq(text))
          .withColumn("made", lit(text))
          .withColumn("raw", sql(`'{t0}' /* {input} */`));
        expect(await sorted(kept)).toEqual(
          rows.filter((row) => row[text] === text).map((row) => ({ ...row, made: text, raw: "{t0}" })),
        );
        expect(await sorted(made().select("id", text))).toEqual(rows.map((row) => ({ id: row.id, [text]: row[text] })));
      });

      test.each(NAMES)("[A8] groupBy, distinct and sort keep %s", async (text) => {
        const counts = await made()
          .groupBy(text)
          .agg({
            n: col("id").count(),
            [`max ${text}`]: col(text).max(),
            same: sql(`max('${text.replaceAll("'", "''")}')`),
          })
          .takeAll();
        const want = NAMES.map((value) => ({ [text]: value, n: 10, [`max ${text}`]: value, same: text }));
        const order = (a: unknown, b: unknown) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
        expect(counts.toSorted(order)).toEqual(want.toSorted(order));
        expect((await made().select(text).distinct().takeAll()).toSorted(order)).toEqual(
          NAMES.map((value) => ({ [text]: value })).toSorted(order),
        );
        const ordered = await made().sort([text, "id"]).takeAll();
        expect(ordered).toEqual(
          rows.toSorted((a, b) => {
            const [x, y] = [Buffer.from(String(a[text])), Buffer.from(String(b[text]))];
            return Buffer.compare(x, y) || byId(a, b);
          }),
        );
      });

      test("[A9] joins, zip and mapGroups keep them", async () => {
        const text = NAMES[5] ?? "";
        const right = s.fromItems(NAMES.map((value, i) => ({ "{t1}": value, "{b0}": `{t0} ${i}`, place: "{b0}" })));
        for (const how of ["inner", "full"] as const) {
          const joined = made().select("id", "{t1}", "{b0}").join(right, { on: "{t1}", how });
          expect(await sorted(joined)).toEqual(
            rows.map((row) => ({
              id: row.id,
              "{t1}": row["{t1}"],
              "{b0}": row["{b0}"],
              "{b0}_right": `{t0} ${NAMES.indexOf(String(row["{t1}"]))}`,
              place: "{b0}",
            })),
          );
        }
        const zipped = made()
          .sort("id")
          .zip(s.fromItems(rows.map((row) => ({ "{t0}": row["{input}"], "{columns ab}": "{columns ab}" }))));
        expect(await sorted(zipped)).toEqual(
          rows.map((row) => ({ ...row, "{t0}_right": row["{input}"], "{columns ab}": "{columns ab}" })),
        );
        const groups = await made()
          .groupBy(text)
          .mapGroups((group) => ({ text: [group[`it's "{t0}" '{input}'`]?.[0]], n: [group.id?.length] }))
          .where(col("text").ne("{t0}"))
          .takeAll();
        expect(groups.map((group) => group.text).toSorted()).toEqual(
          NAMES.filter((value) => value !== "{t0}").toSorted(),
        );
      });
    });
  }
}
