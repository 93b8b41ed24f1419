/** The generated tables of TPC-H hold together: keys lead somewhere, totals are those of the lines. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeTpch, type TpchFiles } from "../../bench/data/tpch/index.ts";
import { differences, viewsOf } from "../../examples/tpch/reference.ts";
import { Kernel } from "../../src/kernel/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("tpch-data");
const kernel = Kernel.open({ threads: 2 });
const connection = kernel.connect();
const make = (name: string) =>
  makeTpch({ directory: join(directory, name), scale: 0.01, execute: (sql) => connection.execute(sql) });
let files: TpchFiles;

beforeAll(async () => {
  files = await make("once");
  for (const view of viewsOf(files)) connection.execute(view);
});
afterAll(() => {
  connection.close();
  kernel.close();
});

test("the same rows come out every time, and what is there is not made again", async () => {
  const again = await make("twice");
  const digest = async (path = "") =>
    createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
  expect(await digest(files.orders[0])).toBe(await digest(again.orders[0]));
  expect(await digest(files.lineitem[0])).toBe(await digest(again.lineitem[0]));
  const before = await stat(files.lineitem[0] ?? "");
  expect(await make("once")).toEqual(files);
  expect((await stat(files.lineitem[0] ?? "")).ino).toBe(before.ino);
});

test("tables are as large as their scale says, and keys are unique", () => {
  expect(
    connection.all(`
      SELECT (SELECT count(DISTINCT s_suppkey) FROM supplier) AS suppliers,
             (SELECT count(DISTINCT c_custkey) FROM customer) AS customers,
             (SELECT count(DISTINCT p_partkey) FROM part) AS parts,
             (SELECT count(DISTINCT (ps_partkey, ps_suppkey)) FROM partsupp) AS supplies,
             (SELECT count(DISTINCT o_orderkey) FROM orders) AS orders,
             (SELECT count(*) - count(DISTINCT (l_orderkey, l_linenumber)) FROM lineitem) AS twice,
             (SELECT count(*) FROM lineitem) BETWEEN 59000 AND 61000 AS lines`),
  ).toEqual([{ suppliers: 100, customers: 1500, parts: 2000, supplies: 8000, orders: 15000, twice: 0, lines: true }]);
});

test("every key leads somewhere", () => {
  const strangers = (from: string, to: string, on: string) =>
    `(SELECT count(*) FROM ${from} ANTI JOIN ${to} ON ${on})::INTEGER`;
  expect(
    connection.all(`
      SELECT ${strangers("lineitem", "orders", "l_orderkey = o_orderkey")} AS lines,
             ${strangers("lineitem", "partsupp", "l_partkey = ps_partkey AND l_suppkey = ps_suppkey")} AS supplies,
             ${strangers("orders", "customer", "o_custkey = c_custkey")} AS orders,
             ${strangers("partsupp", "supplier", "ps_suppkey = s_suppkey")} AS suppliers,
             ${strangers("customer", "nation", "c_nationkey = n_nationkey")} AS customers,
             ${strangers("nation", "region", "n_regionkey = r_regionkey")} AS nations`),
  ).toEqual([{ lines: 0, supplies: 0, orders: 0, suppliers: 0, customers: 0, nations: 0 }]);
});

test("an order's total and status are those of its lines", () => {
  expect(
    connection.all(`
      WITH lines AS (
        SELECT l_orderkey, round(sum(l_extendedprice * (1 + l_tax) * (1 - l_discount)), 2) AS total,
               CASE WHEN min(l_linestatus) = max(l_linestatus) THEN min(l_linestatus) ELSE 'P' END AS status
        FROM lineitem GROUP BY l_orderkey
      )
      SELECT count(*) AS orders, count(*) FILTER (WHERE abs(total - o_totalprice) > 0.01 OR status <> o_orderstatus) AS wrong
      FROM orders JOIN lines ON o_orderkey = l_orderkey`),
  ).toEqual([{ orders: 15000, wrong: 0 }]);
});

test("answers are compared by value, in order, to nine digits", () => {
  const rows = [{ a: 1, b: 0.1 + 0.2, c: new Date("1995-03-15") }];
  expect(differences(rows, [{ a: 1n, b: 0.3, c: "1995-03-15" }])).toEqual([]);
  expect(differences(rows, [])).toEqual(["1 rows instead of 0"]);
  expect(differences([{ a: 1 }, { a: 2 }], [{ a: 2 }, { a: 1 }])).toHaveLength(2);
  expect(differences([{ a: null }], [{ a: 0 }])).toEqual(["row 0, a: null instead of 0"]);
  expect(differences([{ a: 1 }], [{ a: 1.00001 }])).toHaveLength(1);
});
