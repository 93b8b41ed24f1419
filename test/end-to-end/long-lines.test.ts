/**
 * Lines longer than `maxLineSize`, or than the kernel's buffers: refused with file, line and option, never left out.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as zlib from "node:zlib";
import { gzipSync } from "node:zlib";
import { SourceError } from "spillway";
import { describe, expect, test } from "vitest";
import { withZstd } from "../support/requires.ts";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("long-lines");
const s = sessions.open({ workers: 2 });
const MB = 1_000_000;
const rows = (count: number) => "1,2\n".repeat(count);
const long = (bytes: number) => `${"x".repeat(bytes - 2)},2\n`;

function file(name: string, content: string | Uint8Array): string {
  const path = join(sessions.directory, name);
  writeFileSync(path, content);
  return path;
}

const { zstdCompressSync: zstdSync = () => Buffer.alloc(0) } = zlib as {
  zstdCompressSync?: (content: string) => Buffer;
};

describe("[A18] a line longer than maxLineSize", () => {
  test("[A18] the error names the file, the line, the option and the beginning of the line", async () => {
    const small = s.readCsv(file("small.csv", `a,b\n1,2\n${long(100_000)}`), { maxLineSize: 1000 }).takeAll();
    await expect(small).rejects.toThrow(SourceError);
    await expect(small).rejects.toThrow(
      /^readCsv: \S+\/small\.csv, line 3: it is longer than 1000 bytes: "x{200}"\. Give a larger maxLineSize\.$/,
    );
    const header = s.readCsv(file("header.csv", `${long(100_000)}1,2\n`), { maxLineSize: 1000 }).takeAll();
    await expect(header).rejects.toThrow(/header\.csv, line 1: it is longer than 1000 bytes/);
    const mapped = s.readCsv(join(sessions.directory, "small.csv"), { maxLineSize: 1000 }).map((row) => row);
    await expect(mapped.count()).rejects.toThrow(/^readCsv->map: .*small\.csv, line 3: .* larger maxLineSize/);
  });

  test("[A18] packed files: the error, and that the option helps", async () => {
    const path = file("packed.csv.gz", gzipSync(`a,b\n1,2\n${long(3 * MB)}`));
    await expect(s.readCsv(path).count()).rejects.toThrow(
      /packed\.csv\.gz cannot be read: line 3 is longer than 2000000 bytes\. Give a larger maxLineSize\.$/,
    );
    expect(await s.readCsv(path, { maxLineSize: 4 * MB }).count()).toBe(2);
    const header = file("header.csv.gz", gzipSync(`${long(3 * MB)}1,2\n`));
    await expect(s.readCsv(header).count()).rejects.toThrow(/line 1 is longer than 2000000 bytes/);
    expect(await s.readCsv(header, { maxLineSize: 4 * MB }).count()).toBe(1);
  });

  test("[A18] longer than a whole buffer of the kernel's: no line is left out", { timeout: 120_000 }, async () => {
    const last = file("last.csv", `a,b\n${rows(10_000)}${long(50 * MB)}`);
    const inside = file("inside.csv", `a,b\n${rows(10_000)}${long(50 * MB)}${rows(10_000)}`);
    for (const path of [last, inside]) {
      const name = path === last ? "last" : "inside";
      await expect(s.readCsv(path, { maxLineSize: 3 * MB }).count()).rejects.toThrow(
        new RegExp(`${name}\\.csv, line 10002: it is longer than 3000000 bytes: .* Give a larger maxLineSize`),
      );
      await expect(s.readText(path, { maxLineSize: 3 * MB }).count()).rejects.toThrow(
        new RegExp(`${name}\\.csv, line 10002: it is longer than 3000000 bytes`),
      );
    }
    expect(await s.readCsv(inside).count()).toBe(20_001);
    const packed = file("inside.csv.gz", gzipSync(`a,b\n${rows(10)}${long(40 * MB)}${rows(9000)}`, { level: 1 }));
    await expect(s.readCsv(packed).count()).rejects.toThrow(
      /inside\.csv\.gz cannot be read: one of its lines, or of its fields in quotes, is too long\. Give a larger max/,
    );
  });

  test("[A18] the last line of a packed file is not left out", { timeout: 120_000 }, async () => {
    const text = `a,b\n${rows(10)}${long(33 * MB)}`;
    const path = file("last.csv.gz", gzipSync(text, { level: 1 }));
    const refused = /last\.csv\.gz cannot be read: its last line has 33000000 bytes, .* Give a larger maxLineSize\.$/;
    for (const read of [s.readCsv(path), s.readCsv(path, { allText: true }).map((row) => row), s.readText(path)]) {
      const failed = read.count();
      await expect(failed).rejects.toThrow(SourceError);
      await expect(failed).rejects.toThrow(refused);
    }
    const near = file("near.csv.gz", gzipSync(`a,b\n${rows(10)}${long(32 * MB - 1)}`, { level: 1 }));
    await expect(s.readCsv(near).count()).rejects.toThrow(/its last line has 31999999 bytes/);
    expect(await s.readCsv(path, { maxLineSize: 34 * MB }).count()).toBe(11);
    expect(await s.readText(path, { maxLineSize: 34 * MB }).count()).toBe(12);
  });

  test("[A18] nor that of a packed file in another encoding, whose sample is cut into records here", async () => {
    const path = file(
      "latin.csv.gz",
      gzipSync(Buffer.from(`a,b\n${rows(10)}${long(33 * MB)}`, "latin1"), { level: 1 }),
    );
    const read = s.readCsv(path, { encoding: "latin-1" });
    await expect(read.count()).rejects.toThrow(/latin\.csv\.gz.* Give a larger maxLineSize\.$/s);
    expect(await s.readCsv(path, { encoding: "latin-1", maxLineSize: 34 * MB }).count()).toBe(11);
  });

  withZstd.test("[A18] nor that of a file packed with zstd", async () => {
    const path = file("last.csv.zst", zstdSync(`a,b\n${rows(10)}${long(33 * MB)}`));
    const refused = /last\.csv\.zst cannot be read: its last line has 33000000 bytes, .* Give a larger maxLineSize\.$/;
    await expect(s.readCsv(path).count()).rejects.toThrow(refused);
    await expect(s.readText(path).count()).rejects.toThrow(refused);
  });
});
