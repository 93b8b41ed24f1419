/** Rows of more columns than V8 keeps in the shape of an object are the same plain objects. */
import { expect, test } from "vitest";
import { RowBuilder, toRows } from "../../src/arrow/index.ts";

const names = [...Array.from({ length: 1_500 }, (_, i) => `column ${i}`), "7", "3", 'a "quoted"\nname'];

function rowOf(index: number, columns: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(columns.map((name, i) => [name, valueAt(index, i)]));
}

function valueAt(row: number, column: number): unknown {
  if (row % 3 === 0 && column % 2 === 0) return null;
  return column % 4 === 1 ? `text ${row} ${column}` : row * column;
}

for (const [what, columns] of Object.entries({ plain: names, "with __proto__": [...names, "__proto__"] })) {
  test(`[A13] rows of 1,500 columns, ${what}, go in and come out with all keys in order`, () => {
    const builder = new RowBuilder();
    const rows = Array.from({ length: 7 }, (_, index) => rowOf(index + 1, columns));
    for (const row of rows) builder.append(row);
    const out = toRows(builder.finish());
    expect(out).toEqual(rows);
    expect(Object.keys(out[6] ?? {})).toEqual(Object.keys(rows[6] ?? {}));
    expect(Object.getPrototypeOf(out[0])).toBe(Object.prototype);
  });
}

test("[A13] a row of 1,500 columns that lacks one, or has another, is refused by name", () => {
  const builder = new RowBuilder();
  builder.append(rowOf(1, names));
  const { "column 1499": _, ...lacking } = rowOf(2, names);
  expect(() => builder.append(lacking)).toThrow('lacks "column 1499"');
  expect(() => builder.append({ ...rowOf(2, names), more: 1 })).toThrow('has "more"');
  builder.append(rowOf(3, names));
  expect(toRows(builder.finish())).toEqual([rowOf(1, names), rowOf(3, names)]);
});
