import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WriteError } from "../../src/errors/index.ts";
import type { FileSink } from "../../src/protocol/index.ts";
import { commitFiles } from "../../src/supervisor/commit.ts";

let root: string;
let directory: string;
let staging: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "spillway-commit-"));
  directory = join(root, "out");
  staging = join(directory, ".staging");
});
afterEach(() => rmSync(root, { recursive: true }));

function sink(mode: FileSink["mode"]): FileSink {
  const plain = { partitionBy: [], maxRowsPerFile: null, targetFileSize: null, compression: null, heldBytes: 1 << 20 };
  return { kind: "files", format: "csv", staging, directory, mode, ...plain };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

function stage(...paths: string[]) {
  for (const path of paths) write(join(staging, path), `new ${path}`);
  return paths.map((path) => ({ path, rows: 1, bytes: 1 }));
}

function all(): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
}

test("[A11] only reported files are moved, partitions and all; the rest of the staging is gone", async () => {
  const files = stage("a.csv", "k=1/b.csv");
  write(join(staging, "left-over-of-a-dead-worker.csv"), "half");
  await commitFiles({ sink: sink("error"), files });
  expect(all()).toEqual(["a.csv", "k=1/b.csv"]);
  expect(existsSync(staging)).toBe(false);
});

test("[A11] error: data that came meanwhile is left alone, hidden files are no data", async () => {
  write(join(directory, "_SUCCESS"), "");
  write(join(directory, ".hidden"), "");
  await commitFiles({ sink: sink("error"), files: stage("a.csv") });
  await expect(commitFiles({ sink: sink("error"), files: stage("b.csv") })).rejects.toThrow(WriteError);
  expect(all()).toEqual([".hidden", "_SUCCESS", "a.csv"]);
});

test("[A11] overwrite: the old data goes when the new is in place, emptied partitions too", async () => {
  write(join(directory, "k=1/old.csv"), "old");
  write(join(directory, "k=2/old.csv"), "old");
  await commitFiles({ sink: sink("overwrite"), files: stage("k=1/new.csv") });
  expect(all()).toEqual(["k=1/new.csv"]);
  expect(readdirSync(directory)).toEqual(["k=1"]);
});

test("[A11] overwrite: a failure half-way puts everything back", async () => {
  write(join(directory, "old.csv"), "old");
  const files = [...stage("a.csv"), { path: "never-written.csv", rows: 1, bytes: 1 }];
  await expect(commitFiles({ sink: sink("overwrite"), files })).rejects.toThrow(/Nothing was changed there/);
  expect(all()).toEqual(["old.csv"]);
  expect(readFileSync(join(directory, "old.csv"), "utf8")).toBe("old");
});

test("[A11] append: nothing that is there is touched", async () => {
  write(join(directory, "a.csv"), "old");
  await expect(commitFiles({ sink: sink("append"), files: stage("b.csv", "a.csv") })).rejects.toThrow(
    /is not replaced/,
  );
  expect(all()).toEqual(["a.csv"]);
  await commitFiles({ sink: sink("append"), files: stage("b.csv") });
  expect(all()).toEqual(["a.csv", "b.csv"]);
});
