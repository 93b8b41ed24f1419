/** The cheap proofs that a cast lost nothing of a text never say so of a text that the thorough ones refuse. */
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";

const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

const kinds = [
  { plain: "whole", fits: "bigint", type: "BIGINT", letters: "0123456789+-.eE_x ", usual: "1234567" },
  { plain: "date", fits: "date", type: "DATE", letters: "0123456789-/ TZ", usual: "2024-12-31" },
  {
    plain: "timestamp",
    fits: "timestamp",
    type: "TIMESTAMP",
    letters: "0123456789-/: TZ+.aU",
    usual: "2024-12-31T10:59:07",
  },
];

const corners = [
  ...[
    "1e2",
    "12e2",
    "5e+3",
    "2.5e4",
    "1e03",
    "0x1F",
    "0xFFFFFFFFFF",
    "2.5",
    "007",
    "+1",
    "1_000",
    "12 ",
    " 12",
    "1.",
    "-0",
    "1\t",
  ],
  ...["1e400", "1e-400", "nan", "inf", "-inf", "1_0.5", "007.5", "9007199254740993", "0.1234567890123456"],
  ...[
    "0",
    "0.0",
    "0.00",
    "-0",
    "-0.0",
    "00.5",
    "05e-3",
    "0e5",
    "0.5e-300",
    ".5",
    "-.5",
    "-0.5",
    "-00.5",
    "-07.5",
    "+0.5",
  ],
  ...[
    "1e-291",
    "1e-289",
    "1e299",
    "1e301",
    "-1e-400",
    "-1e400",
    "0.1e-309",
    "1e1_0",
    "1._5",
    "0._5",
    "-1_0.5",
    "1_0e2",
  ],
  ...[
    "INF",
    "nAn",
    "-nan",
    "Infinity",
    "-infinity",
    "1.5 ",
    "1.5f",
    "1,5",
    "123456789012345",
    "1234567890123456",
    "0x1p3",
  ],
  ...["2024-1-5", "2024/01/05", "12024-1-05", " 024-01-05", "-024-01-05", "2024-01-5 ", "infinity", "2024-01-05 (BC)"],
  ...[
    "2024-01-05 10:00+02",
    "2024-1-5 1:00:00+02",
    "2024-01-05 10:00:0Z",
    "2024-01-05 10:00:0 ",
    "2024-01-05T10:00:00Z",
  ],
];

test.each(kinds)("[A18] what is plainly a $fits is one as it stands", ({ plain, fits, type, letters, usual }) => {
  const one = fc.array(fc.constantFrom(...letters), { maxLength: 20 }).map((each) => each.join(""));
  // One character of a value that is right, changed: far more often nearly right than texts of any letters.
  const near = fc
    .tuple(fc.nat(usual.length), fc.nat(1), fc.constantFrom(...letters))
    .map(([at, left, letter]) => usual.slice(0, at) + letter + usual.slice(at + left));
  const texts = [...corners, ...fc.sample(fc.oneof(one, near), 20_000), usual];
  const list = [...new Set(texts)].map((text) => `('${text}')`).join(", ");
  // A space for the zero of an hour, and a point after the last digit, are the same time.
  const written = type === "TIMESTAMP" ? "regexp_replace(x, '([ T]) |[.]$', '\\10')" : "x";
  const rows = connection.all(
    `SELECT x, spillway_plain_${plain}(x, TRY_CAST(x AS ${type})) AS plain, spillway_fits_${fits}(${written}) AS fits FROM (VALUES ${list}) AS t(x)`,
  );
  expect(rows.filter((row) => row.plain === true && row.fits !== true)).toEqual([]);
  expect(rows.find((row) => row.x === usual)).toMatchObject({ plain: true, fits: true });
});

test("[A18] what is not odd of a double has no digit that the number has not", () => {
  const letters = "0123456789+-.eE_infa ";
  const one = fc.array(fc.constantFrom(...letters), { maxLength: 20 }).map((each) => each.join(""));
  const near = fc
    .tuple(
      fc.constantFrom("12.75", "0.125", "-3.5", "-0.25", "1e5", "2.5e-3", "7e-295", "3e298", "0", "1234567.8901234"),
      fc.array(fc.tuple(fc.nat(15), fc.nat(1), fc.constantFrom(...letters)), { minLength: 1, maxLength: 2 }),
    )
    .map(([usual, changes]) =>
      changes.reduce<string>((text, [at, left, letter]) => text.slice(0, at) + letter + text.slice(at + left), usual),
    );
  const texts = [...corners, ...fc.sample(fc.oneof(one, near), 40_000), "12.75", "0.125", "-3.5", "-0.25", "1e5"];
  const list = [...new Set(texts)].map((text) => `('${text}')`).join(", ");
  const rows = connection.all(
    `SELECT x, spillway_odd_double(x, TRY_CAST(x AS DOUBLE)) AS odd, spillway_exact_double(rtrim(x, ' ' || chr(9))) AS exact, spillway_fits_double(x) AS fits FROM (VALUES ${list}) AS t(x)`,
  );
  // Whatever it proves is exact, it has an answer for every text, and the thorough proof takes no other texts.
  expect(rows.filter((row) => row.odd !== true && row.exact !== true)).toEqual([]);
  expect(rows.filter((row) => row.odd === null)).toEqual([]);
  expect(rows.filter((row) => row.fits !== (row.odd === false || row.exact === true) && row.x !== "1\t")).toEqual([]);
  const plain = ["12.75", "0.125", "-3.5", "-0.25", "1e5", "0", "0.0"];
  expect(rows.filter(({ x, odd }) => plain.includes(String(x)) && odd !== false)).toEqual([]);
  expect(connection.all("SELECT spillway_odd_double(NULL::VARCHAR, NULL::DOUBLE) AS odd")).toEqual([{ odd: null }]);
});
