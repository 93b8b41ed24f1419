/** Which files a path, a folder or a pattern means, with the real kernel and without processes. */
import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { quoteText } from "../../src/arrow/index.ts";
import { col, readBinary, readCsv, readJson, readParquet, readText } from "../../src/dataset/index.ts";
import { OptionError, SourceError } from "../../src/errors/index.ts";
import { kernelAndFiles } from "./kernel-and-files.ts";

const { engine, at, file, sql } = kernelAndFiles("paths");

describe("[A1] paths", () => {
  test("[A1] a folder is read recursively, without hidden and underscore names", async () => {
    file("tree/b/2.txt", "two");
    file("tree/a/1.txt", "one");
    file("tree/_SUCCESS", "no");
    file("tree/.hidden/3.txt", "no");
    file("tree/b/.part.crc", "no");
    expect(await readText(engine, at("tree")).takeAll()).toEqual([{ text: "one" }, { text: "two" }]);
  });

  test("[A1] patterns: *, **, ?, [..] and {a,b}", async () => {
    for (const name of ["g/x1.txt", "g/x2.txt", "g/y1.txt", "g/deep/er/x3.txt", "g/z.csv"]) file(name, name);
    const read = async (pattern: string) => (await readText(engine, at(pattern)).takeAll()).map((row) => row.text);
    expect(await read("g/x*.txt")).toEqual(["g/x1.txt", "g/x2.txt"]);
    expect(await read("g/?1.txt")).toEqual(["g/x1.txt", "g/y1.txt"]);
    expect(await read("g/[x-y]1.txt")).toEqual(["g/x1.txt", "g/y1.txt"]);
    expect(await read("g/[!y]1.txt")).toEqual(["g/x1.txt"]);
    expect(await read("g/{x1,y1}.txt")).toEqual(["g/x1.txt", "g/y1.txt"]);
    expect(await read("g/**/x*.txt")).toEqual(["g/deep/er/x3.txt", "g/x1.txt", "g/x2.txt"].sort());
    expect(await read("g/**")).toHaveLength(5);
    expect(await read("g/d*")).toEqual(["g/deep/er/x3.txt"]);
  });

  test("[A1] an array of paths, each file once", async () => {
    file("l/1.txt", "1");
    file("l/2.txt", "2");
    const rows = await readText(engine, [at("l/2.txt"), at("l"), new URL(`file://${at("l/1.txt")}`)]).takeAll();
    expect(rows.map((row) => row.text)).toEqual(["2", "1"]);
  });

  test("[A1] a name that looks like a pattern but exists is itself", async () => {
    expect(await readText(engine, file("odd[1].txt", "odd")).takeAll()).toEqual([{ text: "odd" }]);
  });

  const hostile = [
    "report[1]",
    "report1",
    "a*",
    "ab",
    "q?",
    "qz",
    "[!a]",
    "]x[",
    "{x,y}",
    "x",
    "back\\slash",
    "per%20cent",
    "it's",
  ];

  test.each(["txt", "bin", "csv", "json", "parquet"])(
    "[A1] names with the characters of patterns are read once each, as listed: %s",
    async (format) => {
      const directory = `hostile-${format}`;
      for (const name of hostile) {
        const path = file(`${directory}/${name}.${format}`, format === "csv" ? `v\n${name}\n` : name);
        if (format === "json") writeFileSync(path, JSON.stringify({ v: name }));
        if (format === "parquet") {
          sql(`COPY (SELECT ${quoteText(name)} AS v) TO ${quoteText(at("plain.parquet"))}`);
          renameSync(at("plain.parquet"), path);
        }
      }
      const read = (path: string) => {
        if (format === "txt") return readText(engine, path).map(({ text }) => ({ v: text }));
        if (format === "bin")
          return readBinary(engine, path).map(({ bytes }) => ({ v: String.fromCharCode(...bytes) }));
        if (format === "csv") return readCsv(engine, path, { header: true, allText: true, delimiter: "|" });
        return format === "json" ? readJson(engine, path) : readParquet(engine, path);
      };
      const values = async (path: string) => (await read(path).takeAll()).map(({ v }) => String(v)).sort();
      expect(await values(at(directory))).toEqual([...hostile].sort());
      for (const name of hostile) expect(await values(at(`${directory}/${name}.${format}`))).toEqual([name]);
      // All rows at once are read by another SQL text.
      const sorted = await read(at(directory)).sort("v").takeAll();
      expect(sorted.map(({ v }) => v)).toHaveLength(hostile.length);
    },
  );

  test("[A1] partition folders whose values have the characters of patterns", async () => {
    for (const value of ["*", "1", "[1]", "?"]) file(`odd-values/k=${value}/a.csv`, `v\nof ${value}\n`);
    const rows = await readCsv(engine, at("odd-values"), { header: true }).takeAll();
    expect(rows.map(({ k, v }) => `${k} ${v}`).sort()).toEqual(["* of *", "1 of 1", "? of ?", "[1] of [1]"]);
    expect(await readCsv(engine, at("odd-values"), { header: true }).filter(col("k").eq("*")).takeAll()).toEqual([
      { v: "of *", k: "*" },
    ]);
  });

  test("[A1] a bracket in a pattern is written [[]; a range that ends before it begins is refused", async () => {
    file("brackets/a[1].txt", "bracket");
    file("brackets/a1.txt", "plain");
    expect(await readText(engine, at("brackets/a[[]*.txt")).takeAll()).toEqual([{ text: "bracket" }]);
    await expect(readText(engine, at("brackets/[z-a].txt")).takeAll()).rejects.toThrow(OptionError);
  });

  test("[A1] a path that the kernel cannot be asked for is refused by name", async () => {
    const path = file("back\\and[1].txt", "both");
    await expect(readText(engine, path).takeAll()).rejects.toMatchObject({ name: "SourceError", path });
  });

  test("[A1] no match names the path", async () => {
    await expect(readText(engine, at("nothing/*.txt")).takeAll()).rejects.toThrow(SourceError);
    await expect(readText(engine, at("nothing/*.txt")).takeAll()).rejects.toThrow(/nothing\/\*\.txt/);
    await expect(readParquet(engine, at("none.parquet")).count()).rejects.toMatchObject({ path: at("none.parquet") });
  });

  test("[A1] a link that leads back up does not go round for ever", async () => {
    file("loop/in/1.txt", "1");
    symlinkSync(at("loop"), at("loop/in/again"));
    expect(await readText(engine, at("loop")).takeAll()).toEqual([{ text: "1" }]);
  });

  test("[A1] a remote path is refused", () => {
    expect(() => readParquet(engine, "s3://bucket/x.parquet")).toThrow(SourceError);
  });
});
