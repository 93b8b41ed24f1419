import { expect, test } from "vitest";
import { fillPlaceholders, INPUT, numberedTables } from "../../src/protocol/index.ts";

const values = new Map([
  [INPUT, "the_input"],
  ...numberedTables("t", ["first", "second"]),
  ...numberedTables("b", ["small"]),
  ["{columns ab12}", 'l."x"'],
]);
const filled = (sql: string) => fillPlaceholders(sql, values);

test("[A7] placeholders are filled where they stand as tables and lists", () => {
  expect(filled("SELECT {columns ab12} FROM {t0} AS l JOIN {t1} AS r, {b0}, {input}")).toBe(
    'SELECT l."x" FROM first AS l JOIN second AS r, small, the_input',
  );
  expect(filled("FROM {t7} WHERE {columns zz}")).toBe("FROM {t7} WHERE {columns zz}");
});

test("[A7] texts, names and comments of a user are left as they are", () => {
  for (const text of [
    "'{t0}'",
    "'it''s {t0}'",
    `'"' || '{input}'`,
    `"{t0}"`,
    `"a""{t0}"`,
    `"it's {b0}"`,
    "'a\\' || '{t0}'",
    "E'a\\'{t0}'",
    "e'a''{t0}'",
    "-- it's {t0}\n",
    "/* it's \" {t0} */",
    "$$ it's {t0} $$",
    "$tag$ $$ {t0} $other$ {t0} $tag$",
    "{'t0': 1}",
    "{t0: 1}",
    "'{t0}",
    '"{t0}',
    "/* {t0}",
  ]) {
    expect(filled(`SELECT ${text}`)).toBe(`SELECT ${text}`);
  }
  for (const text of [
    "'{t0}'",
    `"{t0}"`,
    "E'\\''",
    "-- '\n",
    "/* ' */",
    "$a$ ' $a$",
    "'''{t0}'''",
    "value'x'",
    "1 - 2 / 3",
  ]) {
    expect(filled(`${text} {t0}`)).toBe(`${text} first`);
  }
});

test("[A7] what is put in is not looked at again", () => {
  expect(
    fillPlaceholders(
      "{input} {t0}",
      new Map([
        [INPUT, "{t0} '"],
        ["{t0}", "$& {input}"],
      ]),
    ),
  ).toBe("{t0} ' $& {input}");
});

test("[A7] a long text of SQL is filled in one pass", () => {
  const list = Array.from({ length: 100_000 }, (_, i) => `'it''s {t0} ${i}'`).join(", ");
  expect(filled(`FROM {t0} WHERE x IN (${list})`)).toBe(`FROM first WHERE x IN (${list})`);
  const long = "x{'".repeat(100_000);
  expect(filled(long)).toBe(long);
});
