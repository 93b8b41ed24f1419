/** Parquet and Arrow files whose columns have other types than what is read: every value as it is, or an error. */
import { join } from "node:path";
import { type ReadOptions, sql } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("differing-types");
const s = sessions.open({ workers: 1, preserveOrder: true });
let count = 0;

describe.each(["parquet", "arrow"] as const)("%s", (format) => {
  /** A file for each value, in a folder. */
  async function written(...values: readonly string[]): Promise<string> {
    const path = join(sessions.directory, `${count++}`);
    for (const [i, value] of values.entries()) {
      const rows = s.range(1).select(sql(value).as("v"));
      await (format === "arrow" ? rows.writeArrow(join(path, `${i}`)) : rows.writeParquet(join(path, `${i}`)));
    }
    return path;
  }
  const read = (path: string, options: ReadOptions = {}) =>
    format === "arrow" ? s.readArrow(path, options) : s.readParquet(path, options);
  const texts = async (path: string, options: ReadOptions = {}) =>
    (await read(path, options).select(sql("CAST(v AS VARCHAR)").as("v")).takeAll()).map(({ v }) => v);

  test("[A18] BIGINT and DOUBLE give DOUBLE where that holds every value", async () => {
    const path = await written(
      "9007199254740992::BIGINT",
      "0.5::DOUBLE",
      "NULL::BIGINT",
      "'nan'::DOUBLE",
      "7::INTEGER",
    );
    expect(String(await read(path).schema())).toBe("v: DOUBLE");
    expect(await texts(path)).toEqual(["9007199254740992.0", "0.5", null, "nan", "7.0"]);
  });

  test.each([
    ["9007199254740993::BIGINT", "0.5::DOUBLE", "DOUBLE"],
    ["9223372036854775807::BIGINT", "0.5::DOUBLE", "DOUBLE"],
    ["18446744073709551615::UBIGINT", "0.5::FLOAT", "FLOAT"],
    ["16777217::INTEGER", "0.5::FLOAT", "FLOAT"],
    ["1234567890123456.75::DECIMAL(18,2)", "0.5::DOUBLE", "DOUBLE"],
    ["[1, 9007199254740993::BIGINT]", "[0.5::DOUBLE]", "DOUBLE[]"],
    ["{'a': 9007199254740993::BIGINT}", "{'a': 0.5::DOUBLE}", "STRUCT(a DOUBLE)"],
  ])("[A18] %s beside %s: an error that names file and column", async (value, other, type) => {
    const path = await written(other, value);
    expect((await read(path).schema()).columns[0]?.type).toBe(type);
    const failing = read(path).takeAll();
    await expect(failing).rejects.toMatchObject({
      name: "SourceError",
      path: expect.stringContaining(join(path, "1")),
    });
    await expect(failing).rejects.toThrow(
      /does not fit column "v", which is .* other files.*schema: \{ "v": "VARCHAR"/s,
    );
    // A count looks at no values.
    expect(await read(path, { schema: { v: "VARCHAR" } }).count()).toBe(2);
  });

  test("[A18] a declared type takes what is the same value", async () => {
    const path = await written("2.0::DOUBLE", "7::BIGINT", "'007'", "5.00::DECIMAL(9,2)", "NULL::DOUBLE");
    expect(await texts(path, { schema: { v: "INTEGER" } })).toEqual(["2", "7", "7", "5", null]);
    const wide = await written("9007199254740993::BIGINT", "0.1::DECIMAL(9,2)");
    expect(await texts(wide, { schema: { v: "DECIMAL(38,2)" } })).toEqual(["9007199254740993.00", "0.10"]);
    // The nearest number is what these types are for.
    expect(await texts(wide, { schema: { v: "DOUBLE" } })).toEqual(["9007199254740992.0", "0.1"]);
  });

  test.each([
    ["2.5::DOUBLE", "INTEGER"],
    ["3000000000::BIGINT", "INTEGER"],
    ["'2.5'", "INTEGER"],
    ["'x'", "DOUBLE"],
    ["2.55::DECIMAL(9,2)", "DECIMAL(9,1)"],
    ["TIMESTAMP '2024-01-01 10:00:00'", "DATE"],
    ["TIMESTAMP_NS '2024-01-01 10:00:00.123456789'", "TIMESTAMP"],
    ["[1.5::DOUBLE]", "INTEGER[]"],
  ])("[A18] %s as %s, which the schema declares: an error that names file and column", async (value, type) => {
    const path = await written(value, value);
    const failing = read(path, { schema: { v: type }, columns: ["v"] }).takeAll();
    await expect(failing).rejects.toMatchObject({
      name: "SourceError",
      path: expect.stringContaining(path),
    });
    await expect(failing).rejects.toThrow(/does not fit column "v", which the schema declares as/);
  });
});
