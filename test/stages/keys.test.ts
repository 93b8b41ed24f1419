/**
 * Keys by which rows go to partitions, over every type of the kernel: equal values hash alike, and the order is that of
 * ORDER BY.
 */
import { afterAll, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import { hashKey, orderParts, ownOrderParts } from "../../src/stages/keys.ts";

const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

const VALUES: Readonly<Record<string, readonly string[]>> = {
  BOOLEAN: ["true", "false"],
  TINYINT: ["-128", "0", "5", "127"],
  UTINYINT: ["0", "5", "255"],
  SMALLINT: ["-32768", "5"],
  USMALLINT: ["65535", "5"],
  INTEGER: ["-5", "0", "5", "2147483647"],
  UINTEGER: ["4294967295", "5"],
  BIGINT: ["9007199254740993", "9007199254740992", "9007199254740994", "-9223372036854775808", "5", "0"],
  UBIGINT: ["18446744073709551615", "18446744073709551614", "5"],
  HUGEINT: ["99999999999999999999999999999999999998", "99999999999999999999999999999999999999", "-5", "5"],
  DOUBLE: ["nan", "-nan", "inf", "-inf", "0", "-0.0", "5", "5.5", "1e300", "9007199254740992", "1e-300"],
  FLOAT: ["nan", "-nan", "inf", "-inf", "0", "-0.0", "5", "5.5", "0.1"],
  "DECIMAL(4,1)": ["5.5", "5", "-0.1"],
  "DECIMAL(18,3)": ["123456789012345.678", "123456789012345.677", "-0.001", "5.5"],
  "DECIMAL(38,0)": ["99999999999999999999999999999999999998", "99999999999999999999999999999999999999", "-5"],
  "DECIMAL(38,10)": [
    "1234567890123456789012345678.0123456789",
    "1234567890123456789012345678.0123456788",
    "5.5",
    "5",
    "-5.5",
    "-0.1",
    "0",
  ],
  "DECIMAL(38,38)": ["0.12345678901234567890123456789012345678", "0.12345678901234567890123456789012345679", "-0.1"],
  VARCHAR: ["a", "b", "", "ä", "5", "nan"],
  BLOB: ["a", "\\x00", "b"],
  DATE: ["2020-01-01", "5000000-01-01", "5000000-01-02", "1600-02-29", "infinity", "-infinity", "4000-01-01 (BC)"],
  TIMESTAMP: ["2020-01-01", "2020-01-01 00:00:00.000001", "1600-02-29", "infinity", "-infinity", "290000-01-01"],
  TIMESTAMP_S: ["2020-01-01", "infinity", "1600-02-29"],
  TIMESTAMP_MS: ["2020-01-01", "-infinity", "2020-01-01 00:00:00.001"],
  TIMESTAMP_NS: ["2020-01-01", "2020-01-01 00:00:00.000000001", "infinity", "-infinity", "1700-01-01"],
  TIMESTAMPTZ: ["2020-01-01", "infinity", "2020-01-01 00:00:00.000001"],
  TIME: ["00:00:00", "23:59:59.999999", "24:00:00"],
  TIME_NS: ["00:00:00", "00:00:00.000000001", "24:00:00"],
  TIMETZ: ["12:00:00+01", "11:30:00+00", "11:00:00-01", "11:00:00+00", "00:30:00+01", "23:30:00-02"],
  INTERVAL: ["1 month", "30 days", "720 hours", "29 days", "31 days", "1 month -5 days", "-1 day", "-100 hours"],
  UUID: ["00000000-0000-0000-0000-000000000001", "ffffffff-0000-0000-0000-000000000001"],
  "ENUM('z', 'a')": ["z", "a"],
  BIT: ["101", "0101", "1"],
  BIGNUM: ["10", "9", "-10"],
  "INTEGER[]": ["[1, 2]", "[]", "[1]", "[NULL]"],
  "DOUBLE[]": ["[1, 2]", "[nan]", "[-nan]", "[0]", "[-0.0]"],
  "INTEGER[2]": ["[1, 2]"],
  "DATE[]": ["[2020-01-01]"],
  "TIMESTAMP[]": ["[2020-01-01 00:00:00]"],
  "STRUCT(a DOUBLE, b VARCHAR)": ["{'a': 1, 'b': x}", "{'a': NULL, 'b': y}", "{'a': nan, 'b': y}"],
  "MAP(VARCHAR, INTEGER)": ["{a=1}", "{}"],
};

/** Their sort keys: after functions they travel as texts, and have the order of texts there as well. */
const TRAVELS_AS_TEXT = /^(TIMETZ|ENUM|BIT|BIGNUM)/;

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;
const sortKey = (parts: readonly string[]) =>
  `create_sort_key(${parts.flatMap((part) => [part, "'ASC NULLS LAST'"]).join(", ")})`;

function keyed(type: string, columns: Readonly<Record<string, string>>): string {
  const values = (VALUES[type] ?? []).map(quoted).join(", ");
  const list = Object.entries(columns).map(([name, sql]) => `${sql} AS ${name}`);
  return `(SELECT x, ${list.join(", ")} FROM (SELECT CAST(unnest([${values}]) AS ${type}) AS x))`;
}

function pairs(a: string, b: string, condition: string): readonly unknown[] {
  const texts = "CAST(a.x AS VARCHAR) AS a, CAST(b.x AS VARCHAR) AS b";
  return connection.all(`SELECT ${texts} FROM ${a} AS a, ${b} AS b WHERE ${condition}`);
}

test.each(Object.keys(VALUES))("[A9] %s: equal keys for equal values, in their order", (type) => {
  const loose = keyed(type, { h: hashKey("x"), k: sortKey(orderParts("x")) });
  expect(pairs(loose, loose, "a.x = b.x AND a.h <> b.h")).toEqual([]);
  const differs = "(a.x < b.x) <> (a.k < b.k) OR (a.x = b.x) <> (a.k = b.k)";
  if (!TRAVELS_AS_TEXT.test(type)) expect(pairs(loose, loose, differs)).toEqual([]);
  const own = keyed(type, { k: sortKey(ownOrderParts("x")) });
  expect(pairs(own, own, differs)).toEqual([]);
});

const FAMILIES = [
  ["UTINYINT", "BIGINT", "UBIGINT", "HUGEINT", "DOUBLE", "DECIMAL(4,1)", "DECIMAL(38,10)"],
  ["FLOAT", "DOUBLE"],
  ["DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"],
  ["TIMESTAMP", "TIMESTAMPTZ"],
  ["TIMESTAMP_NS", "TIMESTAMP"],
  ["INTEGER[]", "DOUBLE[]", "INTEGER[2]"],
  ["DATE[]", "TIMESTAMP[]"],
];

test.each(FAMILIES.map((family) => [family.join(", "), family] as const))("[A9] across %s", (_, family) => {
  for (const [i, a] of family.entries()) {
    for (const b of family.slice(i + 1)) {
      const [left, right] = [a, b].map((type) => keyed(type, { h: hashKey("x"), k: sortKey(orderParts("x")) }));
      if (left === undefined || right === undefined) continue;
      expect(pairs(left, right, "TRY(a.x = b.x) AND a.h <> b.h"), `${a} and ${b}`).toEqual([]);
      const disordered = "TRY(a.x < b.x) AND a.k >= b.k OR TRY(a.x > b.x) AND a.k <= b.k";
      expect(pairs(left, right, disordered), `${a} beside ${b}`).toEqual([]);
    }
  }
});
