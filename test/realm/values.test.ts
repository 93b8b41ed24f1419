/** Values that another realm made are what they are: captured, sent, measured and shown like our own. */
import { readFileSync } from "node:fs";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { RowBuilder } from "../../src/arrow/index.ts";
import { captureFunction, reviveFunction } from "../../src/closure/index.ts";
import { checkLiteral } from "../../src/plan/expression/index.ts";
import {
  codeOf,
  hasFields,
  isDate,
  isError,
  isMap,
  isPlainObject,
  isPromise,
  messageOf,
} from "../../src/realm/index.ts";
import { sizeof } from "../../src/sizeof/index.ts";

const elsewhere = (code: string): ReturnType<typeof runInNewContext> => runInNewContext(`(${code})`);

test("[A1] checks know values of another realm", () => {
  expect(isDate(elsewhere("new Date(0)"))).toBe(true);
  expect(isMap(elsewhere("new Map()"))).toBe(true);
  expect(isError(elsewhere("new (class Own extends TypeError {})('x')"))).toBe(true);
  expect(isPromise(elsewhere("Promise.resolve(1)"))).toBe(true);
  expect(isPlainObject(elsewhere("({ a: 1 })"))).toBe(true);
  expect(isPlainObject(elsewhere("new (class Own {})()"))).toBe(false);
  expect(messageOf(elsewhere("new Error('it broke')"))).toBe("it broke");
  for (const code of ["new Map()", "new Date()", "[1]", "new Set()", "/x/", "Promise.resolve()", "new Error('x')"]) {
    expect(hasFields(elsewhere(code))).toBe(false);
  }
  expect(hasFields(elsewhere("new (class Own { a = 1 })()"))).toBe(true);
});

test("[A1] what is no error of V8's own is one all the same", () => {
  expect(isError(new DOMException("gone", "AbortError"))).toBe(true);
  expect(isError(Object.create(Error.prototype))).toBe(true);
  expect(isError({ message: "no" })).toBe(false);
  expect(isPromise(elsewhere("{ then: 1 }"))).toBe(false);
  try {
    readFileSync("/nowhere/at all");
  } catch (error) {
    expect(codeOf(error)).toBe("ENOENT");
  }
});

test("[A1] rows of values of another realm have the types of our own", () => {
  const values =
    "{ t: new Date(0), b: new Uint8Array([1]), f: new Float32Array([1]), m: new Map([['k', 1]]), l: [1], s: { x: 1 } }";
  const types = (row: unknown) => {
    const builder = new RowBuilder();
    builder.append(row);
    return builder.finish()?.schema;
  };
  expect(types(elsewhere(values))).toEqual(types(new Function(`return ${values}`)()));
});

test("[A1] literals and sizes of another realm's values are those of our own", () => {
  expect(checkLiteral(elsewhere("{ t: [new Date(0)], f: new Float64Array([1]) }"), "lit")).toEqual({
    t: [new Date(0)],
    f: [1],
  });
  expect(() => checkLiteral(elsewhere("new (class Own {})()"), "lit")).toThrow(/class Own/);
  for (const code of ["new Map([[1, 2]])", "new Set([1])", "new Date()", "new ArrayBuffer(99)", "/abc/"]) {
    expect(sizeof(elsewhere(code))).toBe(sizeof(new Function(`return ${code}`)()));
  }
});

test("[A5] a function takes captured values of another realm along", async () => {
  const held = elsewhere(
    "{ list: [1, 2], map: new Map([['k', new Date(3)]]), error: new RangeError('far'), deep: { frozen: Object.freeze({ a: 1 }) }, max: Math }",
  ) as { list: number[]; map: Map<string, Date>; error: Error; deep: { frozen: object } };
  const { list, map, error, deep } = held;
  const captured = captureFunction(
    () => [
      list.length,
      Object.getPrototypeOf(list) === Array.prototype,
      map.get("k")?.getTime(),
      map instanceof Map,
      error instanceof RangeError,
      error.message,
      Object.isFrozen(deep.frozen),
      Object.getPrototypeOf(deep) === Object.prototype,
    ],
    { operator: "map" },
  );
  const { call } = await reviveFunction(captured.payload);
  expect(call()).toEqual([2, true, 3, true, true, "far", true, true]);
});
