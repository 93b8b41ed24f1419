import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { DataType } from "../../src/arrow/types.ts";
import { type Connection, Kernel } from "../../src/kernel/index.ts";
import { rowsOf } from "./batches.ts";

let kernel: Kernel;
let connection: Connection;
beforeAll(() => {
  kernel = Kernel.open({ threads: 1 });
  connection = kernel.connect();
});
afterAll(() => kernel.close());

const int = (bits: 8 | 16 | 32 | 64, signed = true): DataType => ({ kind: "int", bits, signed });
const utf8: DataType = { kind: "utf8", large: false };
const child = (type: DataType, name = "item", nullable = true) => ({ name, type, nullable });
const stamp = (unit: "s" | "ms" | "us" | "ns", timezone: string | null = null): DataType => ({
  kind: "timestamp",
  unit,
  timezone,
});

const CASES: readonly (readonly [sql: string, type: DataType, value: unknown])[] = [
  ["true", { kind: "bool" }, true],
  ["(-7)::TINYINT", int(8), -7],
  ["(-300)::SMALLINT", int(16), -300],
  ["-70000", int(32), -70000],
  ["9223372036854775807::BIGINT", int(64), 9223372036854775807n],
  ["255::UTINYINT", int(8, false), 255],
  ["65535::USMALLINT", int(16, false), 65535],
  ["4294967295::UINTEGER", int(32, false), 4294967295],
  ["18446744073709551615::UBIGINT", int(64, false), 18446744073709551615n],
  ["1.5::FLOAT", { kind: "float", bits: 32 }, 1.5],
  ["1e300::DOUBLE", { kind: "float", bits: 64 }, 1e300],
  ["(-1.5)::DECIMAL(4,1)", { kind: "decimal", precision: 4, scale: 1, bits: 128 }, "-1.5"],
  ["123.45::DECIMAL(9,2)", { kind: "decimal", precision: 9, scale: 2, bits: 128 }, "123.45"],
  ["(-123.456)::DECIMAL(18,3)", { kind: "decimal", precision: 18, scale: 3, bits: 128 }, "-123.456"],
  [
    "12345678901234567890123456789.12345::DECIMAL(38,5)",
    { kind: "decimal", precision: 38, scale: 5, bits: 128 },
    "12345678901234567890123456789.12345",
  ],
  ["sum(r::BIGINT)", { kind: "decimal", precision: 38, scale: 0, bits: 128 }, "3"],
  ["(-5)::HUGEINT", { kind: "decimal", precision: 38, scale: 0, bits: 128 }, "-5"],
  ["5::UHUGEINT", { kind: "decimal", precision: 38, scale: 0, bits: 128 }, "5"],
  ["'héllo wörld, a longer text'", utf8, "héllo wörld, a longer text"],
  ["'\\xAA\\x00b'::BLOB", { kind: "binary", large: false }, new Uint8Array([0xaa, 0, 98])],
  ["DATE '2020-01-02'", { kind: "date", unit: "day" }, 18263n],
  ["TIME '12:34:56.789'", { kind: "time", unit: "us" }, 45296789],
  ["'12:00:00'::TIME_NS", { kind: "time", unit: "ns" }, 43200000],
  ["'12:34:56+02'::TIMETZ", utf8, "12:34:56+02"],
  ["TIMESTAMP '1969-12-31 23:59:59.5'", stamp("us"), -500000n],
  ["TIMESTAMP '1970-01-02'::TIMESTAMP_S", stamp("s"), 86400n],
  ["TIMESTAMP '1970-01-02'::TIMESTAMP_MS", stamp("ms"), 86400000n],
  ["TIMESTAMP '1970-01-02'::TIMESTAMP_NS", stamp("ns"), 86400000000000n],
  ["TIMESTAMPTZ '1970-01-01 02:00:00+01'", stamp("us", "UTC"), 3600000000n],
  [
    "INTERVAL '1 month 2 days 3 seconds'",
    { kind: "interval", unit: "monthDayNano" },
    { months: 1, days: 2, nanos: 3000000000n },
  ],
  ["'eeccb8c5-9943-b2bb-bb5e-222f4e14b687'::UUID", utf8, "eeccb8c5-9943-b2bb-bb5e-222f4e14b687"],
  ["'b'::ENUM('a','b')", utf8, "b"],
  ["'1010'::BIT", utf8, "1010"],
  ["'123456789012345678901234567890'::BIGNUM", utf8, "123456789012345678901234567890"],
  ["'{\"a\":1}'::JSON", utf8, '{"a":1}'],
  ["union_value(num := 2)", utf8, "2"],
  ["[1, NULL, 3]", { kind: "list", child: child(int(32)), large: false }, [1, null, 3]],
  ["[]::INTEGER[]", { kind: "list", child: child(int(32)), large: false }, []],
  ["[1, 2, 3]::INTEGER[3]", { kind: "fixedList", child: child(int(32)), size: 3 }, [1, 2, 3]],
  [
    "{'x y': 1, 'n': [{'q': 'z'}, NULL]}",
    {
      kind: "struct",
      children: [
        child(int(32), "x y"),
        child({ kind: "list", child: child({ kind: "struct", children: [child(utf8, "q")] }), large: false }, "n"),
      ],
    },
    { "x y": 1, n: [{ q: "z" }, null] },
  ],
  [
    "MAP {'k': 1, 'l': NULL}",
    { kind: "map", key: child(utf8, "key", false), value: child(int(32), "value") },
    new Map([
      ["k", 1],
      ["l", null],
    ]),
  ],
  ["['101'::BIT]", { kind: "list", child: child(utf8), large: false }, ["101"]],
  ["{'e': 'b'::ENUM('a','b')}", { kind: "struct", children: [child(utf8, "e")] }, { e: "b" }],
];

describe("[A13] types of a result", () => {
  it.each(CASES)("%s", (sql, type, value) => {
    const query = `SELECT ${sql} AS c FROM range(3) t(r)`;
    expect(connection.describe(query).fields).toEqual([{ name: "c", type, nullable: true }]);
    const rows = rowsOf(connection, query);
    const plain = rows.map((row) => (row.c instanceof Uint8Array ? new Uint8Array(row.c) : row.c));
    expect(plain[0]).toEqual(value);
    // NULLs of the same type, before and after a value (an outer join makes them for every type; CASE does not).
    const one = `SELECT c, 1 AS j FROM (${query}) LIMIT 1`;
    const mixed = rowsOf(connection, `SELECT c FROM range(3) y(i) LEFT JOIN (${one}) ON i = j ORDER BY i`);
    expect(mixed.map((row) => row.c === null)).toEqual([true, false, true]);
  });

  it("a result of nothing but NULL is an int column, as the kernel has it", () => {
    expect(connection.all("SELECT NULL AS c")).toEqual([{ c: null }]);
  });

  it("VARIANT says to cast", () => {
    expect(() => connection.all("SELECT 1::VARIANT AS v")).toThrow(
      expect.objectContaining({ kind: "Not implemented", message: expect.stringMatching(/"v".*VARIANT.*CAST\("v"/) }),
    );
    expect(connection.all("SELECT 1::VARIANT::VARCHAR AS v")).toEqual([{ v: "1" }]);
  });

  it("UHUGEINT past 38 digits is an error, not a wrong number", () => {
    expect(() => connection.all("SELECT 340282366920938463463374607431768211455::UHUGEINT AS u")).toThrow(
      expect.objectContaining({ kind: "Conversion" }),
    );
  });

  it("casts keep column names, order, duplicates and a trailing semicolon", () => {
    const sql = "SELECT '1'::BIT AS \"a b\", 2 AS x, 'u'::ENUM('u') AS x FROM range(2) ORDER BY 2; -- the end\n;";
    expect(connection.describe(sql).fields.map((field) => field.name)).toEqual(["a b", "x", "x"]);
    const stream = connection.query("SELECT '1'::BIT AS \"a b\", 2 AS x, 'u'::ENUM('u') AS x FROM range(2) ;\n ;");
    expect(stream.schema.fields.map((field) => field.name)).toEqual(["a b", "x", "x"]);
    expect(stream.next()?.length).toBe(2);
    stream.close();
  });

  it("texts longer than the place made for them, and chunks of all sizes", () => {
    const sql = "SELECT i, repeat('é' || i, (i % 700)::INT) s FROM range(10000) t(i)";
    for (const row of rowsOf(connection, sql)) {
      const i = Number(row.i);
      expect(row.s).toBe(`é${i}`.repeat(i % 700));
    }
  });

  it("a list whose children outgrow 2,048 values a chunk", () => {
    const rows = rowsOf(connection, "SELECT i, range(i % 50) l FROM range(5000) t(i)");
    expect(rows).toHaveLength(5000);
    for (const row of rows) {
      expect(row.l).toEqual(Array.from({ length: Number(row.i) % 50 }, (_, item) => BigInt(item)));
    }
  });

  it("parquet, json and icu are built in, and nothing is fetched from anywhere", () => {
    const loaded = connection.all("SELECT extension_name AS n FROM duckdb_extensions() WHERE loaded ORDER BY 1");
    expect(loaded.map((row) => row.n)).toEqual(expect.arrayContaining(["icu", "json", "parquet"]));
    expect(
      connection.all("SELECT current_setting('TimeZone') z, current_setting('autoload_known_extensions') a"),
    ).toEqual([{ z: "UTC", a: false }]);
  });
});
