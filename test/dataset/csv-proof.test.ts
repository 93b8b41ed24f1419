/**
 * What is proved of CSV bytes before the kernel makes values of them: never more than is true, and all that is usual.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { LONGEST_RECORD, RecordProver } from "../../src/csv/index.ts";
import { readCsv, sql } from "../../src/dataset/index.ts";
import { fieldProof } from "../../src/dataset/sources/csv-proofs.ts";
import { SourceError } from "../../src/errors/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-csv-proof-"));
const engine = new InProcessEngine();
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

const FORMATS = { dateFormat: null, timestampFormat: null, decimal: null };
const ANY = { kind: "any" } as const;

function proofOf(type: string) {
  const proof = fieldProof(type, FORMATS);
  if (proof === null) throw new Error(`${type} is not proved`);
  return proof;
}
function proverOf(...types: readonly string[]): RecordProver {
  const fields = types.map((type) => (type === "VARCHAR" ? ANY : proofOf(type)));
  return new RecordProver({ delimiter: ",", quote: '"', fields });
}
/** Whether all of a text is proved. */
function proves(prover: RecordProver, text: string): boolean {
  const bytes = Buffer.from(text);
  prover.room.set(bytes);
  return prover.proved(bytes.length) === bytes.length;
}

const USUAL: Readonly<Record<string, readonly string[]>> = {
  BIGINT: ["", "0", "7", "-7", "100", "123456789012345678", "-123456789012345678"],
  INTEGER: ["0", "-999999999"],
  TINYINT: ["99", "-99"],
  UBIGINT: ["0", "123456789012345678"],
  DOUBLE: ["", "0", "1", "-1.5", "0.25", "-0.001", "1234567.8901234", "-12345678.90123"],
  DATE: ["", "2024-02-29", "2000-02-29", "1999-12-31", "2023-04-30"],
  TIMESTAMP: ["", "2024-02-29 23:59:59", "2024-02-29T00:00:00", "2024-01-01 10:00:00.5", "2024-01-01 10:00:00.123456"],
};
const ODD: Readonly<Record<string, readonly string[]>> = {
  BIGINT: ["00", "007", "-0", "+1", "-", "2.5", "1e3", "1_000", "0x1F", " 1", "1 ", "1234567890123456789", '"1"', "x"],
  INTEGER: ["1234567890"],
  TINYINT: ["300"],
  UBIGINT: ["-1"],
  DOUBLE: [".5", "5.", "1e3", "007.5", "1_0.5", "nan", "-", "0.30000000000000004", "9007199254740993", "1.5x"],
  DATE: [
    "2023-02-29",
    "1900-02-29",
    "2024-04-31",
    "2024-13-01",
    "2024-00-01",
    "2024-01-00",
    "2024-1-1",
    "2024-01-01 ",
    "0000-05-10",
  ],
  TIMESTAMP: [
    "2024-01-01",
    "2024-01-01 10:00",
    "2024-01-01 24:00:00",
    "2024-01-01 10:60:00",
    "2024-01-01 10:00:60",
    "2024-01-01 10:00:00Z",
    "2024-01-01 10:00+02",
    "2024-01-01 10:00:00+02",
    "2024-01-01 10:00:00.",
    "2024-01-01 10:00:00.1234567",
  ],
};

describe("[A18] what is proved of a field", () => {
  test.each(Object.keys(USUAL))(
    "[A18] %s: all that is usual, nothing that is odd, wherever the field stands",
    (type) => {
      for (const [texts, expected] of [
        [USUAL[type] ?? [], true],
        [ODD[type] ?? [], false],
      ] as const) {
        for (const text of texts) {
          expect(proves(proverOf(type, "VARCHAR"), `${text},x\n`), `${text} first`).toBe(expected);
          expect(proves(proverOf("VARCHAR", type), `x,${text}\n`), `${text} last`).toBe(expected);
          expect(proves(proverOf("VARCHAR", type), `x,${text}\r\n`), `${text} before a return`).toBe(expected);
        }
      }
    },
  );

  const alphabet = fc.constantFrom(..."0123456789-+.eE_x:T Z/");
  const likely: Readonly<Record<string, fc.Arbitrary<string>>> = {
    BIGINT: fc.stringMatching(/^-?[0-9]{1,19}$/),
    DOUBLE: fc.stringMatching(/^-?[0-9]{0,9}\.?[0-9]{0,9}$/),
    DATE: fc.stringMatching(/^[012][0-9]{3}-[01][0-9]-[0123][0-9]$/),
    TIMESTAMP: fc.stringMatching(
      /^[12][0-9]{3}-[01][0-9]-[0123][0-9][ T][012][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{1,7})?$/,
    ),
  };

  test.each(Object.keys(likely))("[A18] %s: what is proved is read by the kernel without loss", (type) => {
    const prover = proverOf(type, "VARCHAR");
    const texts = fc
      .sample(fc.oneof(likely[type] ?? alphabet, fc.string({ unit: alphabet, maxLength: 24 })), 20_000)
      .filter((text) => proves(prover, `${text},x\n`));
    expect(new Set(texts).size).toBeGreaterThan(50);
    const file = join(folder, `${type}.csv`);
    writeFileSync(file, texts.map((text) => `${text},"${text}"\n`).join(""));
    const read = `read_csv('${file}', auto_detect=false, header=false, delim=',', quote='"', escape='"', allow_quoted_nulls=false, columns={'v': '${type}', 'x': 'VARCHAR'})`;
    const lost = `x <> '' AND (v IS DISTINCT FROM TRY_CAST(x AS ${type}) OR NOT spillway_fits_${type.toLowerCase()}(x))`;
    expect(
      engine.connection.all(`SELECT count(*)::INTEGER AS n, any_value(x) FILTER (${lost}) AS lost FROM ${read}`),
    ).toEqual([{ n: texts.length, lost: null }]);
  });
});

describe("[A18] what is proved of records", () => {
  test.each([
    ["as they should be", "1,a\n2,b\n", 8],
    ["texts of any length", `1,${"a".repeat(40)}\n2,\n`, 46],
    ["quotes", '1,"a, ""b"" \n c"\n2,"d"\n', 23],
    ["a field too few", "1,a\n2\n3,c\n", 4],
    ["a field too many", "1,a\n2,b,c\n", 4],
    ["an empty line", "1,a\n\n2,b\n", 4],
    ["a quote inside of a field", '1,a\n2,5" pipe\n', 4],
    ["something behind quotes", '1,a\n2,"b"c\n', 4],
    ["quotes that stay open", '1,a\n2,"b\n', 4],
    ["a return inside of a field", "1,a\n2,b\rc\n", 4],
    ["a record that is cut off", "1,a\n2,b", 4],
  ])("[A18] %s", (_, text, expected) => {
    const prover = proverOf("BIGINT", "VARCHAR");
    // What was there before is not looked at.
    prover.room.fill(0x31);
    const bytes = Buffer.from(text);
    prover.room.set(bytes);
    expect(prover.proved(bytes.length)).toBe(expected);
  });
});

describe("[A18] many records at once, which are proved in several lanes", () => {
  const prover = proverOf("BIGINT", "VARCHAR", "DOUBLE");
  /** Records, about as long as given, with line ends inside of quotes that look like the ends of records. */
  const records = (count: number, text: (i: number) => string) =>
    Array.from({ length: count }, (_, i) => `${i},${text(i)},${i}.25\n`);
  const provedOf = (lines: readonly string[]) => {
    const bytes = Buffer.from(lines.join(""));
    prover.room.set(bytes);
    return prover.proved(bytes.length);
  };
  const lengthOf = (lines: readonly string[]) => Buffer.byteLength(lines.join(""));

  test.each([
    ["plain texts", (i: number) => `text ${i}`],
    ["quoted texts with whole records in them", (i: number) => `"a\n1,${"b".repeat(i % 50)},1.5\n2,c,2.5\n"`],
    ["quoted texts with lines that are no records", (i: number) => `"\n${"x\n".repeat(i % 90)}"`],
    ["texts longer than a lane", () => `"${"1,b,1.5\n".repeat(3000)}"`],
  ])("[A18] %s: all is proved, or up to the odd record, wherever it is", (_, text) => {
    const all = records(text(0).length > 1000 ? 9 : 900, text);
    expect(provedOf(all)).toBe(lengthOf(all));
    for (let at = 0; at < all.length; at += Math.ceil(all.length / 97)) {
      const odd = all.with(at, `007,${text(at)},1.25\n`);
      expect([at, provedOf(odd)]).toEqual([at, lengthOf(all.slice(0, at))]);
    }
  });

  test("[A18] in any cut of the bytes, as much is proved as record by record", () => {
    const one = fc.constantFrom("1,a,1.5\n", '2,"b\n3,c,4.5\n",2.5\n', ",,\n", '5,"""\n",\n', "7,d,7\r\n", "8,é,0.5\n");
    const odd = fc.constantFrom("01,a,1\n", '9,"\n', "1,a\n", "\n", '1,"a"b,1\n', "1,a,1.5x\n", "1,a,1,\n", "");
    fc.assert(
      fc.property(
        fc.array(one, { minLength: 300, maxLength: 900 }),
        odd,
        fc.nat(900),
        fc.nat(20),
        (all, bad, at, cut) => {
          const lines = [...all.slice(0, at), bad, ...all.slice(at)];
          const bytes = Buffer.from(lines.join(""));
          const length = bytes.length - Math.min(cut, bytes.length);
          let alone = 0;
          // Few bytes are proved in one lane.
          for (let more = 1; more > 0; alone += more) {
            prover.room.set(bytes.subarray(alone, Math.min(length, alone + 1000)));
            more = prover.proved(Math.min(1000, length - alone));
          }
          prover.room.set(bytes);
          expect(prover.proved(length)).toBe(alone);
        },
      ),
    );
  });
});

describe("[A18] reading what is proved", () => {
  const rows = Array.from({ length: 21_000 }, (_, i) => `${i},${i}.5,2024-02-29 10:00:00,text ${i}`);
  const file = (name: string, ...more: readonly string[]) => {
    const path = join(folder, `${name}.csv`);
    writeFileSync(path, `i,d,t,s\n${[...rows, ...more].join("\n")}\n`);
    return path;
  };

  test("[A18] a record that is too long to be proved is read all the same", async () => {
    const long = "x".repeat(LONGEST_RECORD);
    const read = await readCsv(engine, file("long", `7,7.5,,${long}`)).takeAll();
    expect(read.at(-1)).toEqual({ i: 7, d: 7.5, t: null, s: long });
  });

  test("[A18] the values are those of the texts", async () => {
    const ds = readCsv(engine, file("plain", ",,,"));
    expect((await ds.schema()).columns.map(({ type }) => type)).toEqual(["BIGINT", "DOUBLE", "TIMESTAMP", "VARCHAR"]);
    const read = await ds.takeAll();
    expect(JSON.stringify(engine.jobs.at(-1))).toContain('"proof"');
    expect(read.length).toBe(21_001);
    expect(read[20_999]).toEqual({ i: 20_999, d: 20_999.5, t: new Date("2024-02-29T10:00:00Z"), s: "text 20999" });
    expect(read[21_000]).toEqual({ i: null, d: null, t: null, s: null });
  });

  test.each([
    ["007,1.5,2024-01-01 00:00:00,x", '"007" does not fit column "i"'],
    ["2.5,1.5,2024-01-01 00:00:00,x", '"2.5" does not fit column "i"'],
    ["1,1e400,2024-01-01 00:00:00,x", '"1e400" does not fit column "d"'],
    ["1,1.5,2024-01-01 00:00:00+02,x", '"2024-01-01 00:00:00+02" does not fit column "t"'],
    ["1,1.5,2024-02-30 00:00:00,x", '"2024-02-30 00:00:00" does not fit column "t"'],
  ])("[A18] %s below the sample is an error with its line", async (odd, message) => {
    const read = readCsv(engine, file("odd", odd)).takeAll();
    await expect(read).rejects.toThrow(`odd.csv, line 21002: ${message}`);
    await expect(read).rejects.toBeInstanceOf(SourceError);
  });

  test("[A18] values that the schema declares, and null values of the user's, are the same", async () => {
    const declared = readCsv(engine, file("declared", "007,5,2024-01-01,x"), {
      schema: { i: "INTEGER", d: "DOUBLE", t: "TIMESTAMP" },
    });
    expect((await declared.takeAll()).at(-1)).toEqual({ i: 7, d: 5, t: new Date("2024-01-01"), s: "x" });
    const nulls = readCsv(engine, file("nulls", "NA,NA,NA,NA"), { nullValues: "NA" });
    expect((await nulls.takeAll()).at(-1)).toEqual({ i: null, d: null, t: null, s: null });
  });

  test("[A18] a large file is summed up by tasks, each of which proves its part", async () => {
    const path = join(folder, "large.csv");
    const filler = "x".repeat(3200);
    const lines = Array.from({ length: 22_000 }, (_, i) => `${i + 1},${filler}\n`).join("");
    writeFileSync(path, `i,s\n${lines}`);
    const total = () => readCsv(engine, path).agg({ i: sql("i").sum(), s: sql("strlen(s)").sum() });
    expect(await total()).toEqual({ i: 242_011_000, s: 22_000 * 3200 });
    expect(JSON.stringify(engine.jobs.at(-1)).match(/"proof"/g)?.length).toBeGreaterThan(1);
    writeFileSync(path, `i,s\n${lines}007,x\n`);
    await expect(total()).rejects.toThrow('large.csv, line 22002: "007" does not fit column "i"');
  });
});
