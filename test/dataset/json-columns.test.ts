/** The columns of many JSON files, over an invented kernel that says what it was asked. */
import { expect, test } from "vitest";
import { jsonColumns } from "../../src/dataset/sources/json-columns.ts";
import type { QuickQuestion } from "../../src/protocol/index.ts";

const MIB = 2 ** 20;

/** Each file has a column `x` of the type that `typeOf` says; together they are of all types. */
function looks(typeOf: (path: string) => string, joins = false) {
  const asked: string[][] = [];
  const inspect = async (sql: string, quick: QuickQuestion | null = null) => {
    if (quick !== null && !joins) return [];
    const paths = quick?.files ?? [...sql.matchAll(/'(\/[^']+)'/g)].map((found) => found[1] ?? "");
    asked.push([...paths]);
    return [{ column_name: "x", column_type: [...new Set(paths.map(typeOf))].sort().join("+") }];
  };
  return { asked, engine: { inspect } };
}

const named = (count: number, bytes = 20, ending = "json") =>
  Array.from({ length: count }, (_, i) => ({ path: `/${i}.${ending}`, shown: `/${i}.${ending}`, bytes, writtenAt: 0 }));

test("[A1] the kernel is asked about so many JSON files at a time that what it keeps of them is little", async () => {
  const small = looks(() => "BIGINT");
  expect(await jsonColumns(small.engine, named(300), [])).toEqual([{ name: "x", type: "BIGINT" }]);
  expect(small.asked.map((paths) => paths.length)).toEqual([128, 128, 44]);
  const large = looks(() => "BIGINT");
  await jsonColumns(large.engine, named(5, 30 * MIB), []);
  expect(large.asked.map((paths) => paths.length)).toEqual([2, 2, 1]);
  const packed = looks(() => "BIGINT");
  await jsonColumns(packed.engine, named(4, 20, "json.gz"), []);
  expect(packed.asked.map((paths) => paths.length)).toEqual([2, 2]);
});

test("[A1] groups of files that differ are looked at together, without those that only repeat others", async () => {
  const one = looks((path) => (path === "/200.json" ? "DOUBLE" : "BIGINT"));
  expect(await jsonColumns(one.engine, named(1000), [])).toEqual([{ name: "x", type: "BIGINT+DOUBLE" }]);
  // Of eight groups the first and the one that differs; two groups again, which differ; and both.
  expect(one.asked.map((paths) => paths.length)).toEqual([128, 128, 128, 128, 128, 128, 128, 104, 128, 128, 256]);
});

test("[A1] thousands of small JSON files that a worker makes one of are asked about together, and again where they differ", async () => {
  const one = looks((path) => (path === "/9000.json" ? "DOUBLE" : "BIGINT"), true);
  expect(await jsonColumns(one.engine, named(10_000), ["format='auto'"])).toEqual([
    { name: "x", type: "BIGINT+DOUBLE" },
  ]);
  expect(one.asked.map((paths) => paths.length)).toEqual([4096, 4096, 1808, 4096 + 1808]);
  const large = looks((path) => (path === "/3.json" ? "DOUBLE" : "BIGINT"), true);
  await jsonColumns(large.engine, named(2_000, 30_000), ["format='auto'"]);
  expect(large.asked.every((paths) => paths.length * 30_000 <= 32 * MIB)).toBe(true);
});

test.each([["sample_size=10"], ["format='array'"], ["maximum_object_size=100"]])(
  "[A1] small JSON files read with %s are asked about by name",
  async (arg) => {
    const one = looks(() => "BIGINT", true);
    await jsonColumns(one.engine, named(300), [arg]);
    expect(one.asked.map((paths) => paths.length)).toEqual([128, 128, 44]);
  },
);
