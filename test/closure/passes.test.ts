/** Which columns a function provably returns as they came, told from its source. */
import { runInThisContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { captureFunction, type PassedColumns } from "../../src/closure/index.ts";

type Passes = Partial<PassedColumns> | null;

/** What is not said of an expectation: nothing is passed by that way. */
function whole(passes: Passes): PassedColumns | null {
  return passes === null ? null : { rest: false, columns: {}, made: [], ...passes };
}

function passesOf(source: string, gives: "row" | "rows" | "batch" | "row batch"): PassedColumns | null {
  return captureFunction(runInThisContext(`(${source})`), { operator: "map", gives }).passes;
}

describe("map", () => {
  it.each<[string, Passes]>([
    // The row itself and spreads of it.
    ["(row) => row", { rest: true }],
    ["(row) => ({ ...row })", { rest: true }],
    ["function (row) { return { ...row }; }", { rest: true }],
    ["async (row) => ({ ...row, a: await f(row.a) })", { rest: true, made: ["a"] }],
    ["(row) => ({ ...row, tax: row.price * 0.2 })", { rest: true, made: ["tax"] }],
    ["(row) => ({ ...row, k: 1 })", { rest: true, made: ["k"] }],
    ["(row) => ({ k: 1, ...row })", { rest: true }],
    ["(row) => ({ ...row, k: 1, ...row })", { rest: true }],
    ["(row = {}) => ({ ...row })", { rest: true }],
    ["(row) => ({ ...row, ...{ a: 1, b: row.c } })", { rest: true, columns: { b: "c" }, made: ["a"] }],
    ["(row) => ({ ...row, ...(row.x > 1 ? { a: 1 } : {}) })", { rest: true, made: ["a"] }],
    ["(row) => ({ ...row, ...(row.x > 1 && { a: 1 }) })", { rest: true, made: ["a"] }],
    ["(row) => ({ ...row, ...null })", { rest: true }],
    ["(row) => Object.assign({}, row, { a: 1 })", { rest: true, made: ["a"] }],
    ["(row) => Object.assign(Object.assign({}, row), { a: 1 })", { rest: true, made: ["a"] }],
    // Single columns.
    ["(row) => ({ key: row.l_orderkey })", { columns: { key: "l_orderkey" } }],
    ['(row) => ({ "a b": row["c d"], 1: row[2] })', { columns: { "a b": "c d", 1: "2" } }],
    ["(row) => ({ a: row?.a, b: (row.b) })", { columns: { a: "a", b: "b" } }],
    ["(row) => ({ ...row, b: row.a })", { rest: true, columns: { b: "a" } }],
    ["(row) => ({ a: row.b, b: row.a })", { columns: { a: "b", b: "a" } }],
    ["(row) => ({ a: row.a, b: row.b + 1 })", { columns: { a: "a" }, made: ["b"] }],
    ["(row) => ({ a: row.a.b })", null],
    ["(row) => ({ a: 1 })", null],
    ["(row) => ({ a: row.ok ? row.a : row.b })", null],
    // Patterns.
    ["({ a, ...others }) => ({ ...others, a2: a })", { rest: true, columns: { a2: "a" }, made: ["a"] }],
    ["({ a, ...others }) => others", { rest: true, made: ["a"] }],
    ["({ a, ...others }) => ({ a: a + 1, ...others })", { rest: true, made: ["a"] }],
    ["({ a, b: c }) => ({ a, c, d: c })", { columns: { a: "a", c: "b", d: "b" } }],
    ["({ a, ...others }) => ({ ...others, a })", { rest: true }],
    ["({ a = 1, b }) => ({ a, b })", { columns: { b: "b" }, made: ["a"] }],
    ["({ a: { b }, ...others }) => ({ b, ...others })", { rest: true, made: ["a"] }],
    ["({ ['a' + 1]: x, ...others }) => others", null],
    [
      "(row) => { const { a, ...others } = row; return { ...others, b: a }; }",
      { rest: true, columns: { b: "a" }, made: ["a"] },
    ],
    ["(row) => { const { price } = row; return { ...row, tax: price * 2 }; }", { rest: true, made: ["tax"] }],
    [
      "(row) => { const { a, ...x } = row; const { b, ...y } = x; return { ...y, c: b }; }",
      { rest: true, columns: { c: "b" }, made: ["a", "b"] },
    ],
    ["(row) => { let { a } = row; a = 0.5; return { a, b: row.b }; }", { columns: { b: "b" }, made: ["a"] }],
    ["({ a, ...others }) => { a += 0.5; return { ...others, a }; }", { rest: true, made: ["a"] }],
    ["(row) => { const p = row.price; return { p }; }", { columns: { p: "price" } }],
    // Several returns.
    ["(row) => row.ok ? row : { ...row, a: 1 }", { rest: true, made: ["a"] }],
    ["(row) => { if (row.ok) return { ...row, a: 1 }; return { ...row, b: 1 }; }", { rest: true, made: ["a", "b"] }],
    ["(row) => { if (row.ok) return { a: row.a, b: 1 }; return { ...row }; }", { columns: { a: "a" }, made: ["b"] }],
    ["(row) => { if (row.ok) return { x: row.a }; return { x: row.b }; }", null],
    ["(row) => { if (row.ok) return null; return row; }", { rest: true }],
    ["(row) => { if (row.ok) return; return row; }", { rest: true }],
    [
      "(row) => { try { return { ...row, a: f(row.a) }; } catch { return { ...row, a: null }; } }",
      { rest: true, made: ["a"] },
    ],
    ["(row) => row.ok && { ...row }", { rest: true }],
    ["(row) => (f(row.a), row)", { rest: true }],
    ["(row) => { if (row.ok) return f(row.a); return row; }", null],
    ["(row) => { const f = () => { return 1; }; return { ...row, a: f() }; }", { rest: true, made: ["a"] }],
    // What is done to the row.
    ["(row) => { row.tax = row.price * 2; return row; }", { rest: true, made: ["tax"] }],
    ["(row) => { row['tax']++; return { a: row.a, b: row.tax }; }", { columns: { a: "a" }, made: ["b"] }],
    ["(row) => { delete row.a; return row; }", { rest: true, made: ["a"] }],
    ["(row) => { [row.a, { b: row.b }] = f(); return row; }", { rest: true, made: ["a", "b"] }],
    ["(row) => { for (row.a of [1]); return row; }", { rest: true, made: ["a"] }],
    ["(row) => { for (const k of ks) row[k] = 1; return row; }", null],
    ["(row) => { delete row[k]; return row; }", null],
    ["(row) => { row = { ...row, a: 1 }; return row; }", null],
    ["(row) => { const other = row; other.a = 1; return row; }", null],
    ["(row) => { change(row); return row; }", null],
    ["(row) => ({ ...row, a: score(row) })", null],
    ["(row) => { Object.assign(row, { a: 1 }); return row; }", null],
    ["(row) => { box.row = row; return row; }", null],
    ["(row) => { [row].forEach((r) => { r.a = 1; }); return row; }", null],
    ["(row) => ({ ...row, f: () => row })", null],
    ["(row) => { row.a(); return row; }", null],
    ["(row) => { row.a`x`; return row; }", null],
    ["function (row) { arguments[0] = { a: 1 }; return row; }", null],
    ["function (row) { eval('row.a = 1'); return row; }", null],
    ["function (row) { with (row) { a = 1; } return row; }", null],
    ["function (row) { var row; return row; }", null],
    ["(row) => { row.tags.push(1); sort(row.tags); return row; }", { rest: true }],
    ["(row) => ({ ...row, s: JSON.stringify(row), n: Object.keys(row).length })", { rest: true, made: ["n", "s"] }],
    ["(row) => { const JSON = { stringify: (r) => { r.a = 1; } }; return { ...row, s: JSON.stringify(row) }; }", null],
    ["(row) => ({ ...row, has: 'a' in row, v: row[k] })", { rest: true, made: ["has", "v"] }],
    ["(row) => { log({ ...row }); return row; }", { rest: true }],
    // Names that mean something else.
    ["(row) => ({ ...row, n: row.items.map((row) => { row.a = 1; return row; }) })", { rest: true, made: ["n"] }],
    ["(row) => ({ a: row.a, b: [1].map((row) => row.b) })", { columns: { a: "a" }, made: ["b"] }],
    ["(x) => { { const row = { id: 1 }; f(row); } return { id: x.id }; }", { columns: { id: "id" } }],
    ["(row) => { const make = (row) => ({ id: row.id }); return make({ id: 1 }); }", null],
    // Literals that cannot be followed.
    ["(row) => ({ ...row, ...extra })", null],
    ["(row) => ({ ...extra, ...row })", { rest: true }],
    ["(row) => ({ ...row, ...extra, id: row.id })", { columns: { id: "id" } }],
    ["(row) => ({ ...row, [k]: 1 })", null],
    ["(row) => ({ [k]: 1, ...row })", { rest: true }],
    ["(row) => ({ ...row, get a() { this.b = 1; return 2; } })", null],
    ["(row) => ({ ...row, __proto__: extra })", null],
    ["(row) => ({ ...row, a() {} })", { rest: true, made: ["a"] }],
    ["(row) => new Thing(row)", null],
    ["(row) => Promise.resolve({ ...row })", null],
    // Local variables.
    ["(row) => { const out = { ...row, a: 1 }; return out; }", { rest: true, made: ["a"] }],
    ["(row) => { const out = { ...row }; if (row.b) out.c = 1; return out; }", { rest: true, made: ["c"] }],
    ["(row) => { const out = { id: row.id }; out.id += 0.5; return out; }", null],
    ["(row) => { const out = { ...row }; f(out.a, out.b.trim()); return out; }", { rest: true }],
    ["(row) => { const out = { ...row }; f(out); return out; }", null],
    ["(row) => { const out = { ...row }; out[k] = 1; return out; }", null],
    ["(row) => { let out = { ...row }; out = f(); return out; }", null],
    ["(row) => { const out = row; return out; }", null],
    // Others.
    ["(a, row) => ({ ...row })", null],
    ["(...rows) => rows[0]", null],
    ["([row]) => row", null],
    ["() => ({ a: 1 })", null],
    ["function* (row) { yield row; }", null],
    ["class { call(row) { return row; } }", { rest: true }],
    ["class { call(row) { return { ...row, a: 1 }; } }", { rest: true, made: ["a"] }],
    ["class { call(row) { this.last = row; row.a = 1; return row; } }", null],
  ])("[A13] %s", (source, passes) => {
    expect(passesOf(source, "row")).toEqual(whole(passes));
  });
});

describe("flatMap", () => {
  it.each<[string, Passes]>([
    ["(row) => [row, { ...row, a: 1 }]", { rest: true, made: ["a"] }],
    ["(row) => [{ id: row.id, n: 1 }, { id: row.id, n: 2 }]", { columns: { id: "id" }, made: ["n"] }],
    ["(row) => row.ok ? [row] : []", { rest: true }],
    ["(row) => [...(row.ok ? [{ ...row }] : []), row]", { rest: true }],
    ["(row) => row.items.map((item) => ({ ...row, item }))", { rest: true, made: ["item"] }],
    [
      "(row) => row.text.split(' ').map((word) => { return { id: row.id, word }; })",
      { columns: { id: "id" }, made: ["word"] },
    ],
    [
      "(row) => row.text.split(' ').filter(Boolean).map((w) => ({ id: row.id, w }))",
      { columns: { id: "id" }, made: ["w"] },
    ],
    ["(row) => row.items.map((x) => ({ ...row, x })).filter((r) => r.x > 1)", { rest: true, made: ["x"] }],
    [
      "(row) => row.a.flatMap((a) => row.b.map((b) => ({ id: row.id, a, b })))",
      { columns: { id: "id" }, made: ["a", "b"] },
    ],
    ["(row) => row.a.flatMap((a) => a > 1 ? [{ ...row, a }] : [])", { rest: true, made: ["a"] }],
    ["(row) => Array.from({ length: 3 }, (_, i) => ({ ...row, i }))", { rest: true, made: ["i"] }],
    [
      "(row) => { const out = []; for (const x of row.xs) out.push({ ...row, x }); return out; }",
      { rest: true, made: ["x"] },
    ],
    ["(row) => { const out = []; fill(out); out.push(row); return out; }", null],
    ["(row) => { const out = [{ id: row.id }]; if (out.length > 1) out.push({ id: 1 }); return out; }", null],
    ["function* (row) { yield row; for (const x of row.xs) yield { ...row, x }; }", { rest: true, made: ["x"] }],
    ["function* (row) { yield* row.xs.map((x) => ({ ...row, x })); return 5; }", { rest: true, made: ["x"] }],
    ["function* (row) { yield row; yield f(row.id); }", null],
    ["async (row) => [row]", { rest: true }],
    ["async (row) => (await f(row.url)).map((x) => ({ id: row.id, x }))", { columns: { id: "id" }, made: ["x"] }],
    ["async function* (row) { yield row; }", { rest: true }],
    ["(row) => row.items", null],
    ["(row) => [row.item]", null],
    ["(row) => row", null],
    ["(row) => row.items.map(f)", null],
    ["(row) => row.items.map((row) => ({ ...row }))", null],
    ["(row) => row.items.map(async (x) => ({ ...row, x }))", null],
    ["(row) => [row].map((r) => { r.id = 0.5; return r; })", null],
    ["(row) => { const out = []; if (row.ok) out.push(row); return out; }", { rest: true }],
    [
      "(row) => { const out = row.xs.map((x) => ({ id: row.id, x })); return out; }",
      { columns: { id: "id" }, made: ["x"] },
    ],
    ["(row) => { const out = row.xs.map(() => row); out[0].a = 0.5; return out; }", null],
    ["(row) => { const out = row.xs.map(() => row); f(out); return out; }", null],
    ["async (row) => Promise.all(row.xs.map(async (x) => ({ ...row, x: await f(x) })))", { rest: true, made: ["x"] }],
    ["async (row) => Promise.all(row.xs.map(f))", null],
  ])("[A13] %s", (source, passes) => {
    expect(passesOf(source, "rows")).toEqual(whole(passes));
  });
});

describe("mapBatches with columns", () => {
  it.each<[string, Passes]>([
    ["(batch) => batch", { rest: true }],
    ["(batch) => ({ ...batch })", { rest: true }],
    ["(batch) => ({ ...batch, tax: batch.price.map((p) => p * 0.2) })", { rest: true, made: ["tax"] }],
    [
      "(batch) => ({ k: batch.id, n: Float64Array.from(batch.id, (x) => x / 2) })",
      { columns: { k: "id" }, made: ["n"] },
    ],
    ["(batch) => ({ id: batch.id.slice(1) })", null],
    [
      "(batch) => { const n = batch.id.length; const out = new Float64Array(n); for (let i = 0; i < n; i++) out[i] = batch.id[i] + batch.p[i]; return { ...batch, out }; }",
      { rest: true, made: ["out"] },
    ],
    [
      "({ id, price, ...others }) => ({ ...others, id, tax: price.map((p) => p * 2) })",
      { rest: true, made: ["price", "tax"] },
    ],
    [
      "(batch) => { const p = batch.price; let sum = 0; for (const x of p) sum += x; return { ...batch, sum: p.map(() => sum) }; }",
      { rest: true, made: ["sum"] },
    ],
    [
      "(batch) => { const ids = new Set(batch.id); return { ...batch, n: batch.k.map((k) => ids.has(k)) }; }",
      { rest: true, made: ["n"] },
    ],
    ["(batch) => { batch.total = f(); return batch; }", { rest: true, made: ["total"] }],
    ["async function* (batch) { yield { ...batch }; }", { rest: true }],
    ["(batch) => ({ ...batch, m: [Math.max(...batch.a)] })", { rest: true, made: ["m"] }],
    ["(batch) => { const out = { ...batch }; out.a = f(batch.b[0]); return out; }", { rest: true, made: ["a"] }],
    // Columns that may have been written in place.
    [
      "(batch) => { for (let i = 0; i < batch.id.length; i++) batch.p[i] *= 2; return batch; }",
      { rest: true, made: ["p"] },
    ],
    ["(batch) => { batch.p.sort(); return batch; }", { rest: true, made: ["p"] }],
    ["(batch) => { batch.p.fill(0.5); return { p: batch.p, q: batch.q }; }", { columns: { q: "q" }, made: ["p"] }],
    ["(batch) => { scale(batch.p); return batch; }", { rest: true, made: ["p"] }],
    ["(batch) => { const p = batch.p; p[0] = 1; return batch; }", { rest: true, made: ["p"] }],
    ["({ p, ...others }) => { p[0]++; return { p, ...others }; }", { rest: true, made: ["p"] }],
    ["(batch) => { const view = batch.p.subarray(1); view[0] = 1; return batch; }", { rest: true, made: ["p"] }],
    ["(batch) => { new Float64Array(batch.p.buffer)[0] = 1; return batch; }", { rest: true, made: ["p"] }],
    [
      "(batch) => { let p = batch.p; p = p.map((x) => x); p[0] = 1; return { ...batch, p }; }",
      { rest: true, made: ["p"] },
    ],
    ["(batch) => { const q = c ? batch.p : batch.r; q[0] = 1; return batch; }", { rest: true, made: ["p", "r"] }],
    ["(batch) => { const box = { p: batch.p }; box.p[0] = 1; return batch; }", { rest: true, made: ["p"] }],
    ["(batch) => { const { p } = { ...batch }; p[0] = 1; return batch; }", null],
    ["(batch) => { const out = { ...batch }; out.p[0] = 1; return out; }", null],
    ["(batch) => { for (const k of Object.keys(batch)) batch[k][0] = 1; return batch; }", null],
    ["(batch) => { for (const a of Object.values(batch)) a[0] = 1; return batch; }", null],
    ["(batch) => { const first = batch[k]; first[0] = 1; return batch; }", null],
    ["(batch) => { const other = batch; return batch; }", null],
    ["(batch) => { f(batch); return batch; }", null],
    [
      "(batch) => { const Float64Array = { from: f }; return { ...batch, n: Float64Array.from(batch.p) }; }",
      { rest: true, made: ["n", "p"] },
    ],
    // Rows out of a batch have columns of their own.
    ["(batch) => [{ id: batch.id }]", null],
    ["(batch) => Array.from(batch.id, (id) => ({ id }))", null],
    ["(batch) => batch.id.length > 0 ? batch : []", { rest: true }],
  ])("[A13] %s", (source, passes) => {
    expect(passesOf(source, "batch")).toEqual(whole(passes));
  });
});

describe("mapBatches with rows", () => {
  it.each<[string, Passes]>([
    // The rows themselves, all or some, in any order.
    ["(rows) => rows", { rest: true }],
    ["(rows) => [...rows]", { rest: true }],
    ["(rows) => Array.from(rows)", { rest: true }],
    ["(rows) => rows.filter((row) => row.x > 1)", { rest: true }],
    ["(rows) => rows.filter(({ x }) => x > 1).slice(0, 3)", { rest: true }],
    ["(rows) => rows.sort((a, b) => a.x - b.x)", { rest: true }],
    ["(rows) => { rows.sort((a, b) => a.x - b.x); return rows; }", { rest: true }],
    ["(rows) => [...rows].sort((a, b) => a.x - b.x).reverse()", { rest: true }],
    ["(rows) => { const kept = rows.filter((row) => row.ok); return kept; }", { rest: true }],
    ["(rows) => rows.length > 0 ? [rows[0], rows.at(-1)] : []", { rest: true }],
    ["(rows) => { const best = rows.find((row) => row.x > 1); return best ? [best] : []; }", { rest: true }],
    ["([first, ...others]) => [first, ...others.filter((row) => row.ok)]", { rest: true }],
    ["async (rows) => { await f(rows.length); return rows; }", { rest: true }],
    // Rows made of them.
    ["(rows) => rows.map((row) => row)", { rest: true }],
    ["(rows) => rows.map((row) => ({ ...row, x: row.y * 2 }))", { rest: true, made: ["x"] }],
    ["(rows) => rows.map((row) => { return { ...row, x: f(row.y) }; })", { rest: true, made: ["x"] }],
    ["(rows) => rows.map((r) => ({ id: r.id }))", { columns: { id: "id" } }],
    [
      "(rows) => rows.map(({ id, ...others }, i) => ({ ...others, key: id, i }))",
      { rest: true, columns: { key: "id" }, made: ["i", "id"] },
    ],
    ["(rows) => rows.filter((r) => r.ok).map((r) => ({ ...r, n: 1 }))", { rest: true, made: ["n"] }],
    ["(rows) => rows.map((r) => ({ ...r, n: 1 })).filter((r) => r.n > 0)", { rest: true, made: ["n"] }],
    ["(rows) => { const out = rows.map((r) => ({ ...r, n: 1 })); return out; }", { rest: true, made: ["n"] }],
    ["(rows) => Array.from(rows, (r) => ({ ...r, n: 1 }))", { rest: true, made: ["n"] }],
    [
      "(rows) => rows.map((r, i) => ({ ...r, before: rows[i - 1]?.id ?? null, first: rows[0].id }))",
      { rest: true, columns: { first: "id" }, made: ["before"] },
    ],
    ["(rows) => rows.flatMap((row) => row.ok ? [row] : [])", { rest: true }],
    [
      "(rows) => rows.flatMap((row) => row.items.map((item) => ({ id: row.id, item })))",
      { columns: { id: "id" }, made: ["item"] },
    ],
    [
      "(rows) => { const total = rows.reduce((sum, row) => sum + row.x, 0); return rows.map((row) => ({ ...row, part: row.x / total })); }",
      { rest: true, made: ["part"] },
    ],
    [
      "async (rows) => Promise.all(rows.map(async (row) => ({ ...row, x: await f(row.x) })))",
      { rest: true, made: ["x"] },
    ],
    [
      "async (rows) => { const xs = await f(rows.map((row) => row.x)); return rows.map((row, i) => ({ ...row, x: xs[i] })); }",
      { rest: true, made: ["x"] },
    ],
    [
      "async (rows) => { const out = await Promise.all(rows.map(async (row) => ({ ...row, x: 1 }))); return out; }",
      { rest: true, made: ["x"] },
    ],
    [
      "function* (rows) { yield rows.slice(0, 2); yield rows.map((r) => ({ ...r, a: 1 })); }",
      { rest: true, made: ["a"] },
    ],
    // Loops.
    [
      "(rows) => { const out = []; for (const row of rows) out.push({ ...row, n: 1 }); return out; }",
      { rest: true, made: ["n"] },
    ],
    [
      "(rows) => { const out = []; for (const { id, x } of rows) if (x) out.push({ id, x: x + 1 }); return out; }",
      { columns: { id: "id" }, made: ["x"] },
    ],
    [
      "(rows) => { const out = []; for (let i = 0; i < rows.length; i++) { const row = rows[i]; out.push({ ...row, i }); } return out; }",
      { rest: true, made: ["i"] },
    ],
    [
      "(rows) => { const out = []; for (const [i, row] of rows.entries()) out.push({ id: row.id, i }); return out; }",
      { columns: { id: "id" }, made: ["i"] },
    ],
    ["(rows) => { const out = []; rows.forEach((row) => { out.push(row); }); return out; }", { rest: true }],
    ["(rows) => { const out = []; out.push(...rows); return out; }", { rest: true }],
    // Rows changed in place.
    ["(rows) => { for (const row of rows) row.x = row.x / 2; return rows; }", { rest: true, made: ["x"] }],
    ["(rows) => { rows.forEach((row) => { row.x = 1; }); return rows; }", { rest: true, made: ["x"] }],
    ["(rows) => { rows[0].x = 0.5; return rows; }", { rest: true, made: ["x"] }],
    ["(rows) => rows.map((row) => { row.x = 1; return row; })", { rest: true, made: ["x"] }],
    ["(rows) => rows.filter((row) => { row.x = 0.5; return true; })", { rest: true, made: ["x"] }],
    // Other rows among them, or rows out of sight.
    ["(rows) => { rows[0] = { id: 0.5 }; return rows; }", null],
    ["(rows) => { rows.push({ id: 0.5 }); return rows; }", null],
    ["(rows) => { rows.length = 0; return rows; }", null],
    ["(rows) => { rows.splice(0, 1, { id: 0.5 }); return rows; }", null],
    ["(rows) => rows.concat(others)", null],
    ["(rows) => [...rows, { id: 0.5 }]", null],
    ["(rows) => { f(rows); return rows; }", null],
    ["(rows) => rows.map(f)", null],
    ["(rows) => rows.filter(f)", null],
    ["(rows) => rows.map((row) => f(row))", null],
    ["(rows) => rows.map((row) => ({ ...row, x: f(row) }))", null],
    ["(rows) => rows.map((row, i, all) => { all[i] = 1; return row; })", null],
    ["(rows) => rows.map((row, ...others) => row)", null],
    ["(rows) => rows.filter(function (row) { arguments[0].x = 1; return true; })", null],
    ["(rows) => { const same = rows; same[0] = { id: 0.5 }; return rows; }", null],
    ["(rows) => { const some = rows.filter((r) => r.ok); some[0].x = 0.5; return rows; }", { rest: true, made: ["x"] }],
    ["(rows) => { const one = rows.find((r) => r.ok); change(one); return rows; }", null],
    ["(rows) => { rows.map((row) => row)[0].x = 0.5; return rows; }", null],
    ["(rows) => { const [a] = rows; a[k] = 0.5; return rows; }", null],
    ["(rows) => { box.rows = rows; return rows; }", null],
    ["(rows) => { for (row of rows) row.x = 0.5; return rows; }", null],
    ["(rows) => { for (const [k, v] of Object.entries(rows)) v.x = 0.5; return rows; }", null],
    ["(rows) => rows.reduce((a, b) => (a.x = 0.5, a)) && rows", null],
    ["(rows) => { for (const pair of rows.entries()) pair[1].x = 0.5; return rows; }", null],
    ["(rows) => rows.map(async (row) => row)", null],
    ["(rows) => { rows = rows.map((r) => ({ id: 0.5 })); return rows; }", null],
    ["(rows) => ({ id: rows.map((row) => row.id) })", null],
    ["(rows) => rows[0]", null],
    ["function* (rows) { yield* rows; }", null],
    ["class { call(rows) { return rows.map((row) => ({ ...row, a: this.a })); } }", { rest: true, made: ["a"] }],
    ["class { call = (rows) => rows.filter((row) => row.ok); }", { rest: true }],
    ["class { call = async function (rows) { return rows; }; }", { rest: true }],
    ["class { call = f((rows) => rows); }", null],
    ["class { constructor() { this.call = f; } call = (rows) => rows; }", null],
    ["class { call = (rows) => rows; run() { f(this); } }", null],
    ["class extends (class { call(rows) { return rows; } }) {}", { rest: true }],
    ["class extends (class { call = (rows) => rows; }) {}", { rest: true }],
    ["class extends (class { call(rows) { return f(rows); } }) { call(rows) { return rows; } }", { rest: true }],
    ["class extends (class { call = (rows) => f(rows); }) { call(rows) { return rows; } }", null],
    ["class extends (class { call(rows) { return rows; } }) { call(rows) { return f(super.call(rows)); } }", null],
    ["class extends (class { constructor() { f(this); } }) { call(rows) { return rows; } }", null],
    ["class extends Map { call(rows) { return rows; } }", null],
    ["class { call(rows) { this.seen = rows; return rows; } }", null],
  ])("[A13] %s", (source, passes) => {
    expect(passesOf(source, "row batch")).toEqual(whole(passes));
  });
});

it("[A13] nothing is told where it is not asked, or of a builtin", () => {
  const fn: unknown = runInThisContext("(row) => row");
  expect(captureFunction(fn as () => unknown, { operator: "map" }).passes).toBeNull();
  expect(captureFunction(Object, { operator: "map", gives: "row" }).passes).toBeNull();
});
