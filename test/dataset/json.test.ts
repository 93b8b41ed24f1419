/** JSON values against what is really in the files. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fromItems, type JsonOptions, readJson, sql } from "../../src/dataset/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-json-"));
const engine = new InProcessEngine();
let count = 0;
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});
async function read(...lines: readonly string[]) {
  const path = join(folder, `${count++}.json`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  const ds = readJson(engine, path);
  return { type: (await ds.schema()).columns[0]?.type, values: (await ds.takeAll()).map((row) => row.v) };
}

test.each([
  ['"2024-01-01T00:00:00+02:00"', "TIMESTAMP WITH TIME ZONE", new Date("2023-12-31T22:00:00Z")],
  ['"2024-01-01T10:00:00"', "TIMESTAMP", new Date("2024-01-01T10:00:00Z")],
  ['"2024-01-01"', "DATE", new Date("2024-01-01")],
  ["123456789012345678901234567890", "VARCHAR", "123456789012345678901234567890"],
  ["2.5", "DOUBLE", 2.5],
  ["7", "BIGINT", 7],
  ["true", "BOOLEAN", true],
  ['"007"', "VARCHAR", "007"],
])("[A1] %s keeps its value", async (text, type, value) => {
  expect(await read(`{"v": ${text}}`)).toEqual({ type, values: [value] });
});

test("[A1] times with and without an offset stay texts", async () => {
  const { type, values } = await read('{"v":"2024-01-01T00:00:00+02:00"}', '{"v":"2024-01-01T00:00:00"}');
  expect(type).toBe("VARCHAR");
  expect(values).toEqual(["2024-01-01T00:00:00+02:00", "2024-01-01T00:00:00"]);
});

test("[A1] whole numbers beyond what doubles hold, among fractions, stay texts", async () => {
  const { type, values } = await read('{"v":9007199254740993}', '{"v":0.5}');
  expect(type).toBe("VARCHAR");
  expect(values).toEqual(["9007199254740993", "0.5"]);
});

test("[A1] whole numbers of both signs beyond 64 bits are decimals", async () => {
  expect((await read('{"v":18446744073709551615}', '{"v":-1}')).type).toBe("DECIMAL(38,0)");
});

test.each([
  ["1", "2.5"],
  ["1.5", "1e400"],
  ['"2024-01-01"', '"2024-01-01T10:00:00"'],
])("[A18] %s and, below the sample, %s: an error with file and line", async (usual, odd) => {
  const lines = Array.from({ length: 45_000 }, () => `{"v":${usual}}`);
  await expect(read(...lines, `{"v":${odd}}`)).rejects.toThrow(/\.json, line 45001: .* does not fit column "v"/);
});

test("[A1] keys that differ only in case, and an empty one, are an error and not null", async () => {
  await expect(read('{"v":1,"V":2}')).rejects.toThrow(/the keys "v" and "V", which cannot be columns/);
  await expect(read('{"":1,"v":2}')).rejects.toThrow(
    /the key "", which cannot be a column|the key "", which cannot be columns/,
  );
});

async function readAs(schema: Readonly<Record<string, string>>, lines: readonly string[], options: JsonOptions = {}) {
  const path = join(folder, `${count++}.json`);
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""));
  return readJson(engine, path, { schema, ...options });
}

const written = [
  "9007199254740993.5",
  "-9007199254740993.25",
  "999999999999.999999",
  "0.000001",
  "1e2",
  "7",
  '"1.5"',
  "123456789012345678901234567890.5",
];

test("[A18] a DECIMAL has the digits that stand in the file", async () => {
  const others = '"x":[1.5,-2e3,{"y":"8.25"}],"t":"a \\" 5.5","n":null,"b":true';
  const lines = written.map((v) => `{${others},"v":${v},"d":0.1}`);
  const ds = await readAs({ v: "DECIMAL(38,6)" }, lines);
  const [first] = await ds.limit(1).takeAll();
  expect(first).toMatchObject({ x: ["1.5", "-2000.0", '{"y":"8.25"}'], t: 'a " 5.5', n: null, b: true, d: 0.1 });
  const texts = await ds.select(sql("CAST(v AS VARCHAR)").as("v")).takeAll();
  expect(texts.map(({ v }) => v)).toEqual([
    "9007199254740993.500000",
    "-9007199254740993.250000",
    "999999999999.999999",
    "0.000001",
    "100.000000",
    "7.000000",
    "1.500000",
    "123456789012345678901234567890.500000",
  ]);
});

test("[A18] a DECIMAL inside objects and lists has the digits that stand in the file", async () => {
  const ds = await readAs({ v: "STRUCT(a DECIMAL(38,6), b DECIMAL(18,2)[], c INTEGER)" }, [
    '{"v":{"a":9007199254740993.5,"b":[1.25,"2.5",null],"c":3}}',
    '{"v":{"a":1}}',
  ]);
  const texts = await ds.select(sql("CAST(v AS VARCHAR)").as("v")).takeAll();
  expect(texts.map(({ v }) => v)).toEqual([
    "{'a': 9007199254740993.500000, 'b': [1.25, 2.50, NULL], 'c': 3}",
    "{'a': 1.000000, 'b': NULL, 'c': NULL}",
  ]);
});

test.each([
  ["DECIMAL(18,1)", "0.25"],
  ["DECIMAL(18,6)", "9999999999999.5"],
  ["DECIMAL(18,6)", "0.1234560000000000000001"],
  ["DECIMAL(18,6)", '"x"'],
  ["INTEGER", "2.5"],
  ["BLOB", '"\u00e9"'],
])("[A18] %s declared and %s: an error with file and line, or left out", async (type, odd) => {
  const lines = ['{"v":1}', `{"v":${odd}}`, "{}"];
  await expect((await readAs({ v: type }, lines)).takeAll()).rejects.toThrow(
    /\.json, line 2: .* does not fit column "v", which the schema declares as/,
  );
  expect(await (await readAs({ v: type }, lines, { ignoreErrors: true })).count()).toBe(2);
});

test.each([
  ["a list", { v: "DECIMAL(18,2)[]" }, '{"v":1.5}'],
  ["an object in a list", { v: "STRUCT(a DECIMAL(18,2))[]" }, '{"v":[{"a":1},7]}'],
  ["a column beside it", { v: "DECIMAL(18,2)", w: "STRUCT(a INTEGER[])" }, '{"v":1.5,"w":{"a":5}}'],
])(
  "[A18] %s that is declared beside or of DECIMAL, and another shape in the file: an error",
  async (_, schema, line) => {
    await expect((await readAs(schema, ["{}", line])).takeAll()).rejects.toThrow(/Expected (ARRAY|OBJECT), but got/);
  },
);

test("[A18] whole numbers found to be decimals, and a fraction below the sample: an error", async () => {
  const lines = Array.from({ length: 45_000 }, () => '{"v":18446744073709551615}');
  const ds = await readAs({}, ['{"v":-1}', ...lines, '{"v":0.5}']);
  await expect(ds.takeAll()).rejects.toThrow(/line 45002: "0.5" does not fit column "v"/);
});

test("[A18] dates in a way of their own beside a DECIMAL", async () => {
  const ds = await readAs({ v: "DECIMAL(18,6)", d: "DATE" }, ['{"v":999999999999.999999,"d":"31/12/2024"}'], {
    dateFormat: "%d/%m/%Y",
  });
  const [row] = await ds.select(sql("CAST(v AS VARCHAR)").as("v"), "d").takeAll();
  expect(row).toEqual({ v: "999999999999.999999", d: new Date("2024-12-31") });
});

test("[A18] lines that cannot be read are left out, and rows of nothing stay, where a DECIMAL is declared", async () => {
  const ds = await readAs({ v: "DECIMAL(18,2)" }, ['{"v":1.25}', '{"v":oops}', "{}", '{"w":2}', '{"v":2.5}'], {
    ignoreErrors: true,
  });
  expect((await ds.takeAll()).map(({ v }) => v)).toEqual([1.25, null, null, 2.5]);
});

test.each(["BLOB", "STRUCT(b BLOB)", "BLOB[]"])("[A11] bytes that writeJson wrote come back as %s", async (type) => {
  const bytes = Uint8Array.of(0xaa, 0, 0x5c, 0x22, 0x61);
  const value = { BLOB: bytes, "STRUCT(b BLOB)": { b: bytes }, "BLOB[]": [bytes, null] }[type];
  const path = join(folder, `${count++}`);
  await fromItems(engine, [{ v: value }, { v: null }], { schema: { v: type } }).writeJson(path);
  const back = await readJson(engine, path, { schema: { v: type } }).takeAll();
  expect(back.map(({ v }) => v)).toEqual([value, null]);
});

test.each(["filename", "FileName"])('[A1] a column that is called "%s" is none of the kernel\'s', async (name) => {
  const path = join(folder, `own-${name}.json`);
  writeFileSync(path, `{"${name}": 5, "v": 1.5}\n`);
  for (const options of [{}, { schema: { v: "DECIMAL(38,10)" } }, { ignoreErrors: true }]) {
    expect(await readJson(engine, path, options).takeAll()).toEqual([{ [name]: 5, v: 1.5 }]);
    expect(await readJson(engine, path, { ...options, includePaths: true }).takeAll()).toEqual([
      { [name]: 5, v: 1.5, path },
    ]);
  }
  writeFileSync(path, `{"${name}": "a.png", "v": "x"}\n`);
  const misread = readJson(engine, path, { schema: { [name]: "VARCHAR", v: "BIGINT" } }).takeAll();
  await expect(misread).rejects.toThrow(`own-${name}.json, line 1`);
});

test.each(["filename", "json", "v.w"])(
  '[A1] a folder that is called "%s=-12" is a column beside a DECIMAL',
  async (name) => {
    const path = join(folder, `folders-${name}`);
    mkdirSync(join(path, `${name}=-12`), { recursive: true });
    writeFileSync(join(path, `${name}=-12`, "0.json"), '{"v": 1.5}\n');
    const schema = { v: "DECIMAL(38,10)", [name]: "BIGINT" };
    expect(await readJson(engine, path, { schema }).takeAll()).toEqual([{ v: 1.5, [name]: -12 }]);
  },
);
