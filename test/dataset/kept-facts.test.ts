/** Facts about files are asked once for as long as the files stay as they are. */
import { expect, test } from "vitest";
import type { SourceFile } from "../../src/dataset/sources/files.ts";
import { inspectFiles } from "../../src/dataset/sources/kept-facts.ts";

const SETTLED = Date.now() - 60_000;
const file = (change: Partial<SourceFile> = {}): SourceFile => ({
  path: "/a.parquet",
  shown: "a.parquet",
  bytes: 100,
  writtenAt: SETTLED,
  inode: 1,
  ...change,
});

function counted() {
  const asked: string[] = [];
  const inspect = async (sql: string) => {
    asked.push(sql);
    return [{ answer: asked.length }];
  };
  return { asked, inspect };
}

test("[A1] the same question about the same files is asked once, for each session", async () => {
  const [one, other] = [counted(), counted()];
  expect(await inspectFiles(one, [file()], "Q")).toEqual([{ answer: 1 }]);
  expect(await inspectFiles(one, [file()], "Q")).toEqual([{ answer: 1 }]);
  await inspectFiles(other, [file()], "Q");
  await inspectFiles(one, [file()], "R");
  expect(one.asked).toEqual(["Q", "R"]);
  expect(other.asked).toEqual(["Q"]);
});

test.each<[string, Partial<SourceFile>]>([
  ["size", { bytes: 101 }],
  ["time", { writtenAt: SETTLED + 0.001 }],
  ["inode", { inode: 2 }],
])("[A1] a file of another %s is asked anew", async (_, change) => {
  const engine = counted();
  await inspectFiles(engine, [file()], "Q");
  await inspectFiles(engine, [file(change)], "Q");
  expect(engine.asked).toEqual(["Q", "Q"]);
});

test("[A1] a file that was just written to is asked every time: its next write may bear the same time", async () => {
  const engine = counted();
  for (let i = 0; i < 3; i++) await inspectFiles(engine, [file(), file({ writtenAt: Date.now() })], "Q");
  expect(engine.asked).toHaveLength(3);
});

test("[A1] answers are kept up to a bound, those used last; failures are not", async () => {
  const engine = counted();
  const ask = (name: string) => inspectFiles(engine, [file()], `${name}${" ".repeat(2 ** 20)}`);
  await ask("first");
  for (let i = 0; i < 14; i++) await ask(`Q${i}`);
  await ask("first");
  await ask("one more");
  engine.asked.length = 0;
  await ask("first");
  await ask("Q0");
  expect(engine.asked.map((sql) => sql.trim())).toEqual(["Q0"]);
  const failing = { inspect: async () => Promise.reject(new Error("no")) };
  await expect(inspectFiles(failing, [file()], "Q")).rejects.toThrow("no");
  await expect(inspectFiles(failing, [file()], "Q")).rejects.toThrow("no");
});
