/** Capturing inside vitest, as users' own tests will, and what can be told from a function's source. */

import fs from "node:fs";
import * as path from "node:path";
import { describe, expect, it } from "vitest";
import { captureFunction, reviveFunction } from "../../src/closure/index.ts";
import { CaptureError } from "../../src/errors/index.ts";
import clean, { LIMITS, RATE, Scaler, twice } from "./fixtures/helper.ts";

type Rows = Record<string, unknown>;
const capture = (fn: unknown) => captureFunction(fn as () => unknown, { operator: "map" });
const outer = 5;
let count = 0;
function helper(x: number): number {
  count++;
  return x + outer;
}

describe("under vitest", () => {
  it("[A5] locals, helpers and imports arrive", async () => {
    const local = new Map([["k", 2]]);
    const scaler = new Scaler(3);
    const captured = capture((row: { v: number }) => [
      helper(row.v) + (local.get("k") ?? 0),
      twice(RATE),
      LIMITS.high,
      clean(" A "),
      scaler.scale(2),
      scaler instanceof Scaler,
      path.basename("/a/b"),
      fs.existsSync("/"),
    ]);
    const { call } = await reviveFunction(captured.payload);
    expect(call({ v: 1 })).toEqual([8, 0.5, 9, "a", 6, true, "b", true]);
    expect(count).toBe(0);
  });

  it("[A5] names the line of the test that captures what cannot travel", () => {
    const weak = new WeakMap();
    expect(() => capture(() => weak.has({}))).toThrow(CaptureError);
    expect(() => capture(() => weak.has({}))).toThrow(/"weak" \(test\/closure\/inline\.test\.ts:41:/);
  });

  it("[A5] capturing leaves nothing on the global object, also when it fails", () => {
    const weak = new WeakMap();
    const before = Reflect.ownKeys(globalThis);
    capture(() => outer);
    expect(() => capture(() => weak)).toThrow(CaptureError);
    expect(Reflect.ownKeys(globalThis)).toEqual(before);
  });

  it("[A5] what a worker changes is its own copy", async () => {
    const state = { n: 0 };
    const { payload } = capture(() => ++state.n);
    const [one, two] = [await reviveFunction(payload), await reviveFunction(payload)];
    expect([one.call(), one.call(), two.call(), state.n]).toEqual([1, 2, 1, 0]);
  });

  it("[A5] a payload in someone else's memory leaves nothing pointing there", async () => {
    const table = new Float64Array([1, 2, 3]);
    const { payload } = capture((i: number) => table[i]);
    const borrowed = new Uint8Array(payload.byteLength + 8);
    for (let shift = 0; shift < 8; shift++) {
      borrowed.set(payload, shift);
      const { call } = await reviveFunction(borrowed.subarray(shift, shift + payload.byteLength));
      borrowed.fill(0xff);
      expect([call(0), call(1), call(2)]).toEqual([1, 2, 3]);
    }
  });

  it("[A5] a large capture is shipped, and its size can be seen", async () => {
    const embeddings = new Float32Array(4 << 20).fill(0.5);
    const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, tags: [`t${id}`], at: new Date(id) }));
    const { payload } = capture((i: number) => [embeddings.length, rows[i]]);
    expect(payload.byteLength).toBeGreaterThan(16 << 20);
    const { call } = await reviveFunction(payload);
    expect(call(49_999)).toEqual([4 << 20, { id: 49_999, tags: ["t49999"], at: new Date(49_999) }]);
  });

  it("[A5] instances deep in each other need no deep stack", async () => {
    class Link {
      constructor(readonly next: Link | null) {}
    }
    let chain: Link | null = null;
    for (let i = 0; i < 20_000; i++) chain = new Link(chain);
    const head = chain;
    const { payload } = capture(() => {
      let length = 0;
      for (let at = head; at !== null; at = at.next) length++;
      return length;
    });
    expect((await reviveFunction(payload)).call()).toBe(20_000);
  });

  it("[A3] a class arrives with its constructor's arguments and makes as many instances as asked", async () => {
    class Model {
      constructor(
        readonly factor: number,
        readonly options: { offset: number },
      ) {}
      call(x: number): number {
        return x * this.factor + this.options.offset;
      }
    }
    const captured = captureFunction(Model, { operator: "mapBatches", constructorArgs: [3, { offset: 1 }] });
    expect(captured).toMatchObject({ name: "Model", isClass: true, columns: null });
    const { construct } = await reviveFunction(captured.payload);
    const [one, two] = [construct?.() as Model, construct?.() as Model];
    expect([one.call(2), one === two, one.options === two.options]).toEqual([7, false, true]);
  });
});

describe("columns", () => {
  const outside = "x";
  it.each<[string, unknown, readonly string[] | null]>([
    ["member", (row: Rows) => [row.a, row["b c"]], ["a", "b c"]],
    ["optional member", (row: Rows) => row?.a, ["a"]],
    ["method of a column", (row: Rows) => (row.name as string).trim(), ["name"]],
    [
      "destructured",
      ({ a, b: { c }, "d e": d = 1 }: { a: number; b: { c: number }; "d e"?: number }) => [a, c, d],
      ["a", "b", "d e"],
    ],
    [
      "destructured inside",
      (row: Rows) => {
        const { a, b = row.c } = row;
        return [a, b];
      },
      ["a", "b", "c"],
    ],
    ["in a nested function", (row: Rows) => [1].map((x) => [x, row.a]), ["a"]],
    ["shadowed", (row: Rows) => [row.a, [{ b: 1 }].map((row) => row.b)], ["a"]],
    ["nothing", () => 1, []],
    ["unused", (_row: Rows) => 1, []],
    ["async", async (row: Rows) => row.a, ["a"]],
    ["rest", ({ a, ...rest }: Rows) => [a, rest], null],
    ["spread", (row: Rows) => ({ ...row, a: 1 }), null],
    ["returned", (row: Rows) => row, null],
    ["passed on", (row: Rows) => JSON.stringify(row), null],
    ["computed", (row: Rows) => row[outside], null],
    ["a method of the row", (row: Rows) => Object.hasOwn(row, "z"), null],
    [
      "kept",
      (row: Rows) => {
        const other = row;
        return other.a;
      },
      null,
    ],
    [
      "reassigned",
      (row: Rows) => {
        row = { z: 1 };
        return row.z;
      },
      null,
    ],
    [
      "arguments",
      function (row: Rows) {
        // biome-ignore lint/complexity/noArguments: what is tested here.
        return [row.a, arguments[0]];
      },
      null,
    ],
    ["rest parameter", (...rows: Rows[]) => rows[0]?.a, null],
    ["keys", (row: Rows) => "a" in row, null],
    [
      "loop",
      (row: Rows) => {
        for (const key in row) return key;
      },
      null,
    ],
    [
      "rest inside",
      (row: Rows) => {
        const { a, ...others } = row;
        return [a, others];
      },
      null,
    ],
  ])("[D6] %s", (_, fn, columns) => {
    expect(capture(fn).columns).toEqual(columns);
  });
});
