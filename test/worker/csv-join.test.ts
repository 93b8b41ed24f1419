/** Which small CSV files can be one file, and what that file contains. */
import { expect, test } from "vitest";
import { CsvJoin } from "../../src/worker/joined/csv-join.ts";

function joined(files: readonly (string | Uint8Array)[], { header = true, quote = '"' } = {}): string | null {
  const join = new CsvJoin({ kind: "csv", header, quote });
  for (const file of files) if (!join.add(typeof file === "string" ? Buffer.from(file) : file)) return null;
  return Buffer.concat([...join.parts()]).toString();
}

test("[A18] files with the same header become one, with that header once", () => {
  expect(joined(["a,b\n1,x\n", "a,b\n2,y", "", "a,b", "a,b\n", "a,b\n3,z\n\n"])).toBe("a,b\n1,x\n2,y\n3,z\n\n");
});

test("[A18] without headers every line is a row", () => {
  expect(joined(["1,x\n", "2,y", "\n3,z"], { header: false })).toBe("1,x\n2,y\n\n3,z\n");
});

test.each([
  ["another header", "a, b\n2,y\n"],
  ["a quote, inside of which a line may end", 'a,b\n"2\n3",y\n'],
  ["returns at the ends of lines", "a,b\r\n2,y\r\n"],
  ["a byte order mark", "\uFEFFa,b\n2,y\n"],
  ["an empty first line", "\na,b\n2,y\n"],
])("[A18] a file with %s is not joined", (_, content) => {
  expect(joined(["a,b\n1,x\n", content])).toBeNull();
  expect(joined([content, "a,b\n1,x\n"])).toBeNull();
});

test("[A18] where nothing is quoted, a quote is a character like any other", () => {
  expect(joined(['a\n"1\n', 'a\n2"\n'], { quote: "" })).toBe('a\n"1\n2"\n');
});

test("[A18] files without rows give a file without rows", () => {
  expect(joined(["", ""])).toBe("");
  expect(joined(["a,b", "a,b\n"])).toBe("a,b\n");
});
