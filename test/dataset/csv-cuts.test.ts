/** Where CSV may be cut, seen from anywhere in it: never inside quotes, whatever stands there. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { CutStates, canBeCut } from "../../src/csv/index.ts";

const MARKS = { delimiter: ",", quote: '"', escape: '"', comment: "" };
const ESCAPING = { ...MARKS, escape: "\\" };

const plain = fc.stringMatching(/^(?:[a-z0-9 ]{1,4}"?[a-z0-9 "]{0,4}|)$/);
/** All that may stand in quotes, and what looks like the end of them or of a record. */
const hostile = fc.array(fc.constantFrom("a", ",", "\n", '"', "1,2\n", '","', '"\n"', " ", "\\"), { maxLength: 8 });
const field = fc.oneof(
  plain.map((text) => ({ text, quoted: false, spaces: 0 })),
  fc.tuple(hostile, fc.nat(1)).map(([parts, spaces]) => ({ text: parts.join(""), quoted: true, spaces })),
);
const records = fc.array(fc.array(field, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 });

type Records = Parameters<Parameters<typeof records.map>[0]>[0];

function written(rows: Records, marks: typeof MARKS, ending: string): { text: string; starts: Set<number> } {
  const starts = new Set<number>();
  let text = "";
  for (const row of rows) {
    const cells = row.map(({ text: value, quoted, spaces }) => {
      // A space after quotes may stand before the end of a field; a field without quotes does not begin with one.
      if (!quoted) return /^ *"/.test(value) ? `x${value}` : value;
      const escaped = marks.escape === '"' ? value.replaceAll('"', '""') : value.replace(/["\\]/g, "\\$&");
      return `"${escaped}"${" ".repeat(spaces)}`;
    });
    text += cells.join(",") + ending;
    starts.add(Buffer.byteLength(text));
  }
  return { text, starts };
}

test.each([
  ["\n", MARKS],
  ["\r\n", MARKS],
  ["\n", ESCAPING],
])("[A18] a cut is the beginning of a record, from wherever it was looked for (%j, %j)", (ending, marks) => {
  let found = 0;
  const check = (rows: Records) => {
    const { text, starts } = written(rows, marks, ending);
    const bytes = Buffer.from(text);
    for (let from = 0; from < bytes.length; from++) {
      const states = new CutStates(marks, 1_000, false);
      for (let cut = states.push(bytes, from); cut >= 0; cut = states.push(bytes, cut)) {
        expect(starts, `${JSON.stringify(text)} from ${from}`).toContain(cut);
        found++;
      }
    }
    // With a known beginning every record is found.
    const known = new CutStates(marks, 1_000, true);
    const all: number[] = [];
    for (let cut = known.push(bytes); cut >= 0; cut = known.push(bytes, cut)) all.push(cut);
    if (marks === MARKS) expect(all).toEqual([...starts]);
  };
  fc.assert(fc.property(records, check), { numRuns: 400 });
  expect(found).toBeGreaterThan(100);
});

test("[A18] where no quote comes for longer than a line can be, there are no quotes", () => {
  const bytes = Buffer.from("a,b\n".repeat(30_000));
  const states = new CutStates(MARKS, 50_000, false);
  expect(states.push(bytes, 2)).toBe(50_004);
  // A quote before that leaves it open whether the rest is in quotes.
  bytes.write('"', 30_000);
  expect(new CutStates(MARKS, 100_000, false).push(bytes, 2)).toBe(-1);
});

test("[A18] dialects of which a byte says nothing are not cut", () => {
  expect(canBeCut({ ...MARKS, delimiter: "||" })).toBe(false);
  expect(canBeCut({ ...MARKS, comment: "#" })).toBe(false);
  expect(canBeCut({ ...MARKS, quote: "", escape: "" })).toBe(true);
});
