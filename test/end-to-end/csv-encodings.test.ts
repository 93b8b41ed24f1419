/** CSV files that are not UTF-8: the option `encoding` of readCsv. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type CsvOptions, col, sql } from "spillway";
import { beforeAll, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("csv-encodings");
const s = sessions.open({ preserveOrder: true });
const at = (...parts: string[]) => join(sessions.directory, ...parts);
type Encoding = NonNullable<CsvOptions["encoding"]>;
interface Row {
  readonly name: string;
  readonly größe: number;
  readonly day: Date;
}

const ROWS = 40_000;
const text = [
  "name;größe;day",
  ...Array.from({ length: ROWS }, (_, i) => `"Café;""${i}";${i};2024-01-${10 + (i % 20)}`),
];
const WINDOWS = { latin: "é ö", euro: "\x80" };

/** The bytes of a text whose characters the encoding has. */
function encoded(lines: readonly string[], encoding: Encoding): Buffer {
  const whole = `${lines.join("\r\n")}\r\n`;
  if (encoding === "utf-16le") return Buffer.from(`\ufeff${whole}`, "utf16le");
  if (encoding === "utf-16be") return Buffer.from(`\ufeff${whole}`, "utf16le").swap16();
  return Buffer.from(whole, encoding === "utf-8" ? "utf8" : "latin1");
}

beforeAll(() => mkdirSync(at("in")));

test.each<Encoding>(["utf-8", "latin-1", "windows-1252", "utf-16le", "utf-16be"])(
  "[A1] CSV in %s, plain and packed: names, quotes, types and lines",
  async (encoding) => {
    const plain = at("in", `${encoding}.csv`);
    writeFileSync(plain, encoded(text, encoding));
    const packed = at("in", `${encoding}.csv.gz`);
    writeFileSync(packed, gzipSync(encoded(text, encoding)));
    const options = { encoding, delimiter: ";" } as const;
    for (const path of [plain, packed]) {
      const ds = s.readCsv<Row>(path, options);
      expect(String(await ds.schema())).toMatch(/name.*VARCHAR.*größe.*BIGINT.*day.*DATE/s);
      expect(await ds.count()).toBe(ROWS);
      const [first] = await ds.take(1);
      expect(first).toEqual({ name: 'Café;"0', größe: 0, day: new Date("2024-01-10") });
      expect(await ds.agg({ sum: col("größe").sum() })).toEqual({ sum: (ROWS * (ROWS - 1)) / 2 });
      const last = await ds.filter((row) => row.größe === ROWS - 1).takeAll();
      expect(last.map(({ name }) => name)).toEqual([`Café;"${ROWS - 1}`]);
    }
    const several = await s
      .readCsv<Row>([plain, packed], { ...options, includePaths: true })
      .groupBy(sql("path").as("path"))
      .count()
      .takeAll();
    expect(several.map(({ count }) => count)).toEqual([ROWS, ROWS]);
    const wrong = at("in", `wrong-${encoding}.csv`);
    writeFileSync(wrong, encoded([...text, '"Café";größer;2024-01-01'], encoding));
    await expect(s.readCsv<Row>(wrong, options).select("größe").takeAll()).rejects.toThrow(
      new RegExp(`^readCsv.*wrong-${encoding}\\.csv, line ${ROWS + 2}: "größer" does not fit column "größe"`),
    );
  },
);

test("[A1] windows-1252 has letters where latin-1 has control characters", async () => {
  writeFileSync(at("in", "euro.csv"), Buffer.from(`a,b\n${WINDOWS.euro},${WINDOWS.latin}\n`, "latin1"));
  const read = (encoding: Encoding) => s.readCsv(at("in", "euro.csv"), { encoding, header: true }).takeAll();
  expect(await read("windows-1252")).toEqual([{ a: "€", b: "é ö" }]);
  const nulls = { encoding: "latin-1", header: true, nullValues: "\x80" } as const;
  expect(await s.readCsv(at("in", "euro.csv"), nulls).takeAll()).toEqual([{ a: null, b: "é ö" }]);
  expect(await read("latin-1")).toEqual([{ a: "\x80", b: "é ö" }]);
});

test("[A1] a packed file in another encoding that was cut short is named, with the reader", async () => {
  writeFileSync(at("in", "cut.csv.gz"), gzipSync(encoded(text, "latin-1")).subarray(0, 20_000));
  await expect(s.readCsv(at("in", "cut.csv.gz"), { encoding: "latin-1" }).count()).rejects.toThrow(
    /^readCsv: .*cut\.csv\.gz cannot be read: it was cut short/,
  );
});
