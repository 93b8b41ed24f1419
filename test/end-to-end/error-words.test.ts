/**
 * What the kernel refuses, in words of this project: what is wrong, with what, and what to do; no option that there is
 * not.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { col, KernelError, SourceError, sql, UnknownColumnError } from "spillway";
import { beforeAll, describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("error-words");
const s = sessions.open({ preserveOrder: true });
const at = (...parts: string[]) => join(sessions.directory, ...parts);

beforeAll(() => mkdirSync(at("in")));

function file(name: string, content: string | Uint8Array): string {
  const path = at("in", name);
  writeFileSync(path, content);
  return path;
}

async function message(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof Error)) throw new Error("it did not fail");
  expect(error.message).not.toMatch(
    /__spillway|strict_mode|ignore_errors|auto_detect|maximum_object_size|max_line_size|buffer_size|encoding=|read_blob|read_csv|encryption_config|newline_del|null_padding|all_varchar|sample_size|parallel = |LINE 1|CSV Error on|Parallel CSV|[Dd]uck[Dd][Bb]/,
  );
  return error.message;
}

describe("[A1] files that cannot be read", () => {
  test("[A1] Parquet: no such file, cut short, encrypted, damaged", async () => {
    await s.range(20_000).withColumn("x", sql("'text ' || id")).writeParquet(at("whole"));
    const [name = ""] = readdirSync(at("whole"));
    const whole = readFileSync(at("whole", name));
    const read = (path: string) => message(s.readParquet(path).takeAll());
    expect(await read(file("no.parquet", "id,name\n"))).toMatch(/no\.parquet cannot be read: it is not a Parquet file/);
    expect(await read(file("cut.parquet", whole.subarray(0, -20)))).toMatch(
      /cut short: a complete file ends with PAR1/,
    );
    const damage = (from: number, to: number) => whole.map((byte, i) => (i >= from && i < to ? byte ^ 0x55 : byte));
    const damaged = damage(1000, 3000);
    expect(await read(file("damaged.parquet", damaged))).toMatch(/damaged\.parquet.*damaged\. Write or copy it again/);
    const sum = s.readParquet(at("in", "damaged.parquet")).agg({ n: col("id").max(), x: col("x").max() });
    await expect(sum).rejects.toThrow(SourceError);
    expect(await message(sum)).toMatch(/damaged\.parquet cannot be read: it is a Parquet file, but damaged/);
    const long = Buffer.from(whole);
    long.writeUInt32LE(0x7fffffff, long.length - 8);
    expect(await read(file("long.parquet", long))).toMatch(
      /long\.parquet cannot be read: it is a Parquet file, but da/,
    );
    const footer = damage(whole.length - 60, whole.length - 20);
    expect(await read(file("footer.parquet", footer))).toMatch(/footer\.parquet.*damaged/);
    const locked = Buffer.concat([
      Buffer.from("PARE"),
      Buffer.alloc(100),
      Buffer.from([50, 0, 0, 0]),
      Buffer.from("PARE"),
    ]);
    expect(await read(file("locked.parquet", locked))).toMatch(
      /it is encrypted, which Spillway cannot read\. Decrypt it/,
    );
  });

  test("[A1] CSV that is none, JSON that ends early or names a key twice, text that is not UTF-8", async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7) % 256);
    const noCsv = s.readCsv(file("bytes.csv", bytes)).takeAll();
    await expect(noCsv).rejects.toThrow(SourceError);
    expect(await message(noCsv)).toMatch(/bytes\.csv cannot be read: it is not a CSV file.*ignoreErrors/);
    expect(await message(s.readJson(file("early.json", '{"a":1}\n{"a":\n')).takeAll())).toMatch(/early\.json/);
    expect(await message(s.readJson(file("twice.json", '{"a":1,"a":2}\n')).takeAll())).toMatch(/duplicate key "a"/);
    const latin = Buffer.from('{"a":"caf\xe9"}\n', "latin1");
    expect(await message(s.readJson(file("latin.json", latin)).takeAll())).toMatch(/it is not UTF-8\. Convert it/);
  });

  test("[A1] JSON: the line or the value that is wrong, and options that there are", async () => {
    const read = (name: string, content: string | Uint8Array, options = {}) =>
      message(s.readJson(file(name, content), options).takeAll());
    const lines = (n: number) => '{"a":1,"b":2}\n'.repeat(n);
    expect(await read("bad-3.json", `${lines(2)}{"a":x}\n${lines(2)}`)).toMatch(
      /bad-3\.json cannot be read: it is not valid JSON in line 3, byte 6: unexpected character\. Fix the file/,
    );
    expect(await read("bad-late.json", `${lines(30_000)}{"a":x}\n`)).toMatch(
      /it is not valid JSON in line 30001, byte 6/,
    );
    expect(await read("bad-end.json", `${lines(5)}{"a"`)).toMatch(
      /it is not valid JSON in line 6, .*: unexpected end of data/,
    );
    expect(await read("bad-array.json", '[{"a":1},\n{"a":x}]')).toMatch(
      /it is not valid JSON in its value 2, byte 6 of it/,
    );
    expect(await read("nested-late.json", `${'{"a":{"b":1}}\n'.repeat(30_000)}{"a":{"b":"x"}}\n`)).toMatch(
      /nested-late\.json cannot be read: line 30001 has "x" inside an object or a list .* schema: \{ column: "JSON" \}/,
    );
    expect(await read("nested-case.json", '{"o":{"a":1,"A":2}}\n')).toMatch(/the key "A" twice, or a key that/);
    expect(await read("no-array.json", lines(2), { format: "array" })).toMatch(/or give format: "ndjson"/);
    expect(await read("utf16.json", Buffer.from('\ufeff{"a":1}\n', "utf16le"))).toMatch(/encoded in UTF-16\. Convert/);
  });

  test("[A1] CSV in another encoding: the file, the line and the option", async () => {
    const latin = Buffer.from("name,n\ncaf\xe9,1\n", "latin1");
    const words = (name: string) =>
      new RegExp(`${name}.*line 2.* not UTF-8.*Give the encoding of the file, such as encoding: "latin-1", or drop`);
    const plain = s.readCsv(file("latin.csv", latin)).takeAll();
    await expect(plain).rejects.toThrow(SourceError);
    expect(await message(plain)).toMatch(words("latin\\.csv"));
    expect(await message(s.readCsv(file("latin.csv.gz", gzipSync(latin))).takeAll())).toMatch(
      words("latin\\.csv\\.gz"),
    );
    const late = Buffer.concat([Buffer.from("name,n\n"), Buffer.from("cafe,1\n".repeat(50_000)), latin.subarray(7)]);
    expect(await message(s.readCsv(file("late.csv", late)).count())).toMatch(/late\.csv, line 50002: it is not UTF-8/);
    expect(() => s.readCsv("x.csv", { encoding: JSON.parse(`"ascii"`) })).toThrow(
      /encoding is "ascii"; it must be one of utf-8, latin-1, windows-1252, utf-16le, utf-16be\./,
    );
  });

  test("[A1] a file of another kind is called what it is", async () => {
    const kinds = [
      ["packed", gzipSync("a,b\n1,2\n"), /packed is a gzip file, not a CSV file\. Give compression: "gzip"/],
      ["book.xlsx", Buffer.from("PK\x03\x04\0\0"), /is a zip file \(spreadsheets .*save it as CSV/],
      ["a.csv.bz2", Buffer.from("BZh91AY"), /is a bzip2 file, not a CSV file\. Unpack it first/],
      ["a.csv", Buffer.from("PAR1\x15\0\x15"), /is a Parquet file, not a CSV file\. Read it with readParquet/],
    ] as const;
    for (const [name, content, words] of kinds) {
      expect(await message(s.readCsv(file(name, content)).takeAll())).toMatch(words);
    }
    expect(await s.readCsv(at("in", "packed"), { compression: "gzip" }).takeAll()).toEqual([{ a: 1, b: 2 }]);
  });

  test("[A1] a pipe is refused: it has no size, and can be read once only", { timeout: 20_000 }, async () => {
    const pipe = at("in", "pipe");
    execFileSync("mkfifo", [pipe]);
    const reads = [s.readCsv(pipe), s.readText(pipe), s.readParquet(pipe), s.readBinary(at("in", "pip?"))];
    for (const ds of reads)
      expect(await message(ds.count())).toMatch(/pipe is a pipe, a socket or a device, not a file/);
    rmSync(pipe);
  });

  test("[A1] a path that is not there is shown once", async () => {
    expect(await message(s.readCsv(at("in", "none.csv")).count())).toBe(
      `readCsv: there is no file or folder ${at("in", "none.csv")}.`,
    );
  });

  test("[A18] what is not packed as its name says", async () => {
    expect(await message(s.readCsv(file("no.csv.gz", "a\n1\n")).takeAll())).toMatch(
      /is not a gzip file\. Give compression/,
    );
    expect(await message(s.readText(file("no.txt.gz", "a\n1\n")).takeAll())).toMatch(
      /is not a gzip file\. Give compression/,
    );
    expect(await message(s.readCsv(file("no.csv.zst", "a\n1\n")).takeAll())).toMatch(
      /is not a zstd file\. Give compressio/,
    );
  });

  test("[A1] what an expression cannot do with a value is no fault of its file", async () => {
    const texts = s.readCsv<{ a: string }>(file("texts.csv", "a\nx\n"));
    const cast = col("a").cast("INTEGER");
    for (const run of [() => texts.select(cast.as("q")).takeAll(), () => texts.agg({ q: cast.sum() })]) {
      const work = run();
      await expect(work).rejects.toThrow(KernelError);
      expect(await message(work)).not.toMatch(/cannot be read/);
    }
  });
});

describe("[A3] expressions that cannot be computed", () => {
  test("[A3] a type that there is not is named, with one that there is", async () => {
    const path = file("numbers.csv", "a\n1\n");
    const wrong = "BIGGINT";
    expect(await message(s.range(3).select(col("id").cast(wrong).as("x")).takeAll())).toMatch(
      /there is no type "BIGGINT"\. Did you mean BIGINT\?/,
    );
    expect(await message(s.readCsv(path, { schema: { a: wrong } }).takeAll())).toMatch(/Did you mean BIGINT\?/);
  });

  test("[A13] a declared type that there is not is told with its operator and column", () => {
    const schema = { a: "BIGGINT" };
    const refused = (operator: string) =>
      new RegExp(`${operator}: schema\\.a: "BIGGINT" is not a type name: .*found BIGG`);
    expect(() => s.range(3).map(({ id }) => ({ a: id }), { schema })).toThrow(refused("map"));
    expect(() => s.range(3).mapBatches(({ id }) => ({ a: id }), { schema })).toThrow(refused("mapBatches"));
    expect(() => s.fromItems([{ a: 1 }], { schema })).toThrow(refused("fromItems"));
  });

  test("[A1] a row of fromItems that is not like the others is told by its number", async () => {
    const rows: { a: unknown }[] = [{ a: 1 }, { a: 2 }, { a: "x" }];
    expect(() => s.fromItems(rows)).toThrow(/Row 2 of fromItems: Column "a" is DOUBLE so far/);
    expect(() => s.fromItems(JSON.parse('[{"a":1},{"b":1}]'))).toThrow(/Row 1 of fromItems: A row lacks "a"/);
    expect(() => s.fromItems(JSON.parse("[5]"))).toThrow(/Row 0 of fromItems: A row is an object of columns/);
    expect(await message(s.fromItems(rows.values()).takeAll())).toMatch(/Row 2 of fromItems: Column "a" is DOUBLE/);
  });

  test("[A3] SQL of the user's with a mistake in it is shown, and none of ours", async () => {
    const ranged = s.range(3);
    const of = (text: string) => message(ranged.withColumn("y", sql(text)).takeAll());
    expect(await of("id + + * 2")).toBe('sql("id + + * 2"): syntax error at or near "2".');
    expect(await of("id >")).toMatch(/^sql\("id >"\): syntax error at its end/);
    expect(await of("'ü' || id )")).toMatch(/^sql\("'ü' \|\| id \)"\): syntax error at its end: .* bracket is closed/);
    expect(await of("(id + 1")).toBe('sql("(id + 1"): it opens a bracket that it does not close.');
    expect(await of("'abc")).toBe('sql("\'abc"): it opens a quote or a comment that it does not close.');
    const wrong = sql("id id");
    const after = ranged.map((row) => ({ ...row }));
    const works = [
      ranged.where(sql<boolean>("id id")).takeAll(),
      ranged.sort(wrong).takeAll(),
      ranged.groupBy(wrong.as("k")).count().takeAll(),
      ranged.withColumn("y", wrong).schema(),
      after.withColumn("y", wrong).takeAll(),
    ];
    for (const work of works) {
      await expect(work).rejects.toThrow(KernelError);
      expect(await message(work)).toBe('sql("id id"): syntax error at or near "id".');
    }
    expect(await of("foo(id)")).toMatch(/Scalar Function with name foo does not exist!/);
  });

  test("[A3] a key or an item of another type is told by the method's name", async () => {
    const held = s.range(3).select(sql("MAP {'a': 1}").as("m"), sql("[DATE '2020-01-01']").as("l"));
    expect(await message(held.select(col("m").mapGet(5).as("x")).takeAll())).toMatch(
      /range->select: mapGet got a value of type INTEGER, but the values inside are VARCHAR\. Give a value/,
    );
    expect(await message(held.select(col("l").listContains(5).as("x")).takeAll())).toMatch(
      /listContains got a value of type INTEGER, but the values inside are DATE/,
    );
  });

  test("[A3] types that a method does not take are told, without the kernel's names and lists", async () => {
    const of = (expression: string) => JSON.parse(JSON.stringify(expression));
    const texts = s.range(3).map(({ id }) => ({ k: id, v: "x" }));
    expect(
      await message(
        s
          .range(3)
          .select(col(of("id")).upper().as("q"))
          .takeAll(),
      ),
    ).toMatch(/range->select: upper cannot be computed from BIGINT\. First cast the column/);
    expect(await message(texts.select(col(of("v")).add(1).as("q")).takeAll())).toMatch(
      /\+ cannot be computed from VARCHAR, INTEGER\. First cast the column/,
    );
    expect(await message(texts.select(col(of("v")).year().as("q")).takeAll())).toMatch(
      /year, month, day and similar methods cannot be computed from VARCHAR\./,
    );
    expect(
      await message(
        s
          .range(3)
          .select(col(of("id")).field("x").as("q"))
          .takeAll(),
      ),
    ).toMatch(/field cannot be computed from BIGINT\./);
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

  test("[A5] explode of a column that is no list", async () => {
    await expect(s.range(1).explode("id").takeAll()).rejects.toThrow(/needs a column of lists, but "id" is BIGINT/);
    const mapped = s.range(1).map(() => ({ 'a"b': 1 }));
    await expect(mapped.explode('a"b').takeAll()).rejects.toThrow(/but "a"b" is DOUBLE/);
  });

  test("[A3] names of ours never show", async () => {
    const texts = s.range(3).map(({ id }) => ({ k: id, v: "x" }));
    const number = col("v").cast("INTEGER");
    const wrong = JSON.parse('"name"');
    const convert = /Could not convert string 'x' to INT32 when casting from source column v/;
    expect(await message(texts.groupBy(number.as("q")).count().takeAll())).toMatch(convert);
    expect(
      await message(
        texts
          .groupBy(number.as("q"))
          .agg({ m: col("k").min() })
          .takeAll(),
      ),
    ).toMatch(convert);
    expect(await message(texts.drop(wrong).takeAll())).toMatch(/there is no column "name"\. Columns here: k, v\./);
  });

  test("[A3] arguments that are none", () => {
    const given = (value: unknown): never => value as never;
    expect(() => col("id").between(1, given(undefined))).toThrow(/between takes two bounds/);
    expect(() => col("id").in(given(5))).toThrow(/in and notIn take a list of values, such as \[1, 2\], not 5/);
    expect(() => col("id").in("abc")).toThrow(/, not "abc"/);
    expect(() => col("id").notIn(given(undefined))).toThrow(/, not undefined/);
    expect(() => s.range(3).limit(2 ** 53)).toThrow(/it must be a whole number from 0 to 2\^53 - 1/);
    expect(() => s.range(2 ** 53 + 2)).toThrow(/not a whole number of at most 2\^53 - 1/);
    expect(() => col("id").cast(given(undefined))).toThrow(/cast: undefined is not a type name/);
    expect(() => s.range(3).rename(given("id"))).toThrow(/rename: names must be an object, such as .* not "id"/);
    expect(() => s.readCsv("x.csv", { delimiter: "abcde" })).toThrow(
      /delimiter is "abcde"; it must be .* at most 4 bytes/,
    );
    expect(() => s.readCsv("x.csv", { delimiter: "|", comment: "|" })).toThrow(
      /delimiter is "\|" and comment is "\|": neither may be a part of the other/,
    );
    expect(() => s.readCsv("x.csv", { compression: given("bz2") })).toThrow(
      /compression is "bz2"; it must be one of gzip, zstd, none/,
    );
    expect(() => s.readCsv("x.csv", { sampleSize: 0 })).toThrow(/sampleSize is 0; it must be .* above 0, or -1/);
    class Kept {
      call(batch: { id: Float64Array }) {
        return batch;
      }
    }
    expect(() => s.range(1).mapBatches(Kept, { constructorArgs: given(5) })).toThrow(
      /mapBatches: constructorArgs is 5; it must be an array/,
    );
    const options = { decimal: given(";") };
    expect(() => s.readCsv("x.csv", options)).toThrow(/decimal is ";"; it must be one of "\.", ","/);
    expect(() => s.readCsv("x.csv", { quote: "''" })).toThrow(/quote is "''"; it must be one ASCII character/);
    expect(() => s.range(3).dropNull(given("id"))).toThrow(
      /must be a list of column names, such as \["id"\], not "id"/,
    );
  });

  test("[A7] a name that is in no table of the user's SQL, and a dataset without columns", async () => {
    const named = s.fromItems([{ name: "x" }]);
    const wrong = named.withColumn("y", sql("nam || 'z'")).takeAll();
    await expect(wrong).rejects.toThrow(UnknownColumnError);
    expect(await message(wrong)).toMatch(/there is no column "nam"\. Did you mean "name"\? Columns here: name\.$/);
    // The kernel says "expected to find nam".
    const used = s
      .range(3)
      .map(({ id }) => ({ name: id }))
      .agg({ n: sql("count(nam)") });
    expect(await message(used)).toMatch(/there is no column "nam"\. Did you mean "name"\?/);
    const nothing = s.readCsv(file("nothing.csv", ""));
    expect(await message(nothing.select(JSON.parse('"x"')).takeAll())).toMatch(
      /^select: there is no column "x"\. There are no columns here\.$/,
    );
  });

  test("[A14] an object without fields, or one that cannot be a value, is called that", async () => {
    const empty = s.range(1).map(() => ({ a: JSON.parse("{}") }));
    expect(await message(empty.takeAll())).toMatch(/Column "a" was given an object without fields/);
    const given = (value: () => unknown) =>
      message(
        s
          .range(1)
          .map(() => ({ a: value() as number }))
          .takeAll(),
      );
    expect(await given(() => Object.create(null))).toMatch(/Column "a" was given an object without fields/);
    expect(await given(() => new Error("x"))).toMatch(/Column "a" was given an Error, which/);
    expect(await given(() => ({ b: { c: () => 1 } }))).toMatch(
      /Column "a" was given an object with "b": an object with "c": a function, which a column cannot hold/,
    );
    const round = await given(() => {
      const one: Record<string, unknown> = {};
      one.two = { one };
      return one;
    });
    expect(round).toMatch(/an object with "two": an object with "one": the object that it is in, which/);
    const nested = s.range(2).map(({ id }) => ({ a: { b: [id === 1 ? JSON.parse('"x"') : 1] } }));
    expect(await message(nested.takeAll())).toMatch(
      /Column "a\.b\[\]" is DOUBLE so far.*declare the whole column in schem/,
    );
  });
});

describe("arguments of the wrong type", () => {
  test("[A1] are named as they are", () => {
    const wrong: unknown[] = [null, undefined, "3", Number.NaN, Number.POSITIVE_INFINITY];
    for (const value of wrong) {
      const shown = typeof value === "string" ? JSON.stringify(value) : String(value);
      expect(() => s.range(value as number)).toThrow(`range: ${shown} is not a whole number of at most 2^53 - 1.`);
      expect(() => s.range(1).limit(value as number)).toThrow(`limit: the number of rows is ${shown};`);
    }
    expect(() => s.readParquet(5 as unknown as string)).toThrow("readParquet: a path must be a text");
    expect(() => s.readCsv(null as unknown as string)).toThrow("readCsv: a path must be a text");
  });
});
