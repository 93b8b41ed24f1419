import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTypeName, schemaEquals, typeName } from "../../src/arrow/index.ts";
import { OptionError } from "../../src/errors/index.ts";
import { anyType, contains } from "./random-columns.ts";

describe("[A1] type names", () => {
  test("aliases and spellings of the kernel's SQL", () => {
    const same: [string, string][] = [
      ["int", "INTEGER"],
      ["int8", "BIGINT"],
      [" double  precision ", "DOUBLE"],
      ["real", "FLOAT"],
      ["text", "VARCHAR"],
      ["varchar(20)", "VARCHAR"],
      ["bytea", "BLOB"],
      ["numeric(10)", "DECIMAL(10,0)"],
      ["decimal", "DECIMAL(18,3)"],
      ["hugeint", "DECIMAL(38,0)"],
      ["timestamptz", "TIMESTAMP WITH TIME ZONE"],
      ["timestamp with time zone", "TIMESTAMP WITH TIME ZONE"],
      ["Timestamp Without Time Zone", "TIMESTAMP"],
      ["datetime", "TIMESTAMP"],
      ["int[][3]", "INTEGER[][3]"],
      ['struct("a b" int, c text[])', 'STRUCT("a b" INTEGER, c VARCHAR[])'],
      ['struct("say ""hi""" int)', 'STRUCT("say ""hi""" INTEGER)'],
      ["map(text, struct(x int)[])", "MAP(VARCHAR, STRUCT(x INTEGER)[])"],
    ];
    for (const [written, spelled] of same) expect(typeName(parseTypeName(written)), written).toBe(spelled);
  });

  test("what is no type name is an OptionError that quotes it", () => {
    for (const wrong of [
      "",
      "INTEGERS",
      "INT[",
      "STRUCT(a)",
      "STRUCT()",
      "MAP(INT)",
      "DECIMAL(50,2)",
      "DECIMAL(2,3)",
      "INT INT",
      "a;b",
      "INT[]]",
    ]) {
      expect(() => parseTypeName(wrong), wrong).toThrow(OptionError);
      expect(() => parseTypeName(wrong), wrong).toThrow(`"${wrong}"`);
    }
  });

  test("reading a name gives the type that is spelled so", () => {
    /** Types that share a name with another: sizes and units that the kernel's SQL does not tell apart. */
    const ambiguous = (type: Parameters<typeof contains>[0]): boolean =>
      contains(type, (inner) => {
        switch (inner.kind) {
          case "utf8":
          case "binary":
          case "list":
            return inner.large;
          case "decimal":
            return inner.bits !== 128;
          case "fixedBinary":
          case "duration":
            return true;
          case "date":
            return inner.unit !== "day";
          case "time":
            return inner.unit !== "us" && inner.unit !== "ns";
          case "timestamp":
            return inner.timezone !== null && (inner.timezone !== "UTC" || inner.unit !== "us");
          case "interval":
            return inner.unit !== "monthDayNano";
          default:
            return false;
        }
      });
    fc.assert(
      fc.property(
        anyType(2).filter((type) => !ambiguous(type)),
        (type) => {
          const parsed = parseTypeName(typeName(type));
          const schema = (held: typeof type) => ({ fields: [{ name: "v", type: held, nullable: true }] });
          expect(schemaEquals(schema(parsed), schema(type)), typeName(type)).toBe(true);
        },
      ),
    );
  });
});
