import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WriteError } from "../../src/errors/index.ts";
import { markStaging } from "../../src/files/index.ts";
import type { FileSink } from "../../src/protocol/index.ts";
import type { FileOutput } from "../../src/scheduler/index.ts";
import { commitFiles } from "../../src/supervisor/commit.ts";

const commit = (output: FileOutput) => commitFiles(output, () => {});
let root: string;
let directory: string;
let staging: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "spillway-commit-"));
  directory = join(root, "out");
  staging = join(root, ".spillway-0123abcd");
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
  // As workers do; nothing of it may come to the user.
  markStaging(staging);
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
  await commit({ sink: sink("error"), files });
  expect(all()).toEqual(["a.csv", "k=1/b.csv"]);
  expect(existsSync(staging)).toBe(false);
});

test("[A11] error: data that came meanwhile is left alone, hidden files are no data", async () => {
  write(join(directory, "_SUCCESS"), "");
  write(join(directory, ".hidden"), "");
  await commit({ sink: sink("error"), files: stage("a.csv") });
  await expect(commit({ sink: sink("error"), files: stage("b.csv") })).rejects.toThrow(WriteError);
  expect(all()).toEqual([".hidden", "_SUCCESS", "a.csv"]);
});

/** As a job has named it. */
const OLD = "part-00000-fedcba98-000.csv";

/** Beside the directory, which is then exchanged, and in it, where files are moved one by one. */
const places = [
  ["beside", () => join(root, ".spillway-0123abcd")],
  ["inside", () => join(directory, ".spillway-0123abcd")],
] as const;

test.each(places)(
  "[A11] overwrite: the old data goes when the new is in place, emptied partitions too (%s)",
  async (_, place) => {
    staging = place();
    write(join(directory, `k=1/${OLD}`), "old");
    write(join(directory, `k=2/${OLD}`), "old");
    await commit({ sink: sink("overwrite"), files: stage("k=1/new.csv") });
    expect(all()).toEqual(["k=1/new.csv"]);
    expect(readdirSync(directory)).toEqual(["k=1"]);
  },
);

test.each(places)("[A11] overwrite: a file that is missing changes nothing (%s)", async (_, place) => {
  staging = place();
  write(join(directory, OLD), "old");
  const files = [...stage("a.csv"), { path: "never-written.csv", rows: 1, bytes: 1 }];
  await expect(commit({ sink: sink("overwrite"), files })).rejects.toThrow(/Nothing was changed there/);
  expect(all()).toEqual([OLD]);
  expect(readFileSync(join(directory, OLD), "utf8")).toBe("old");
});

test("[A11] overwrite: a failure half-way puts everything back, folders too", async () => {
  staging = join(directory, ".spillway-0123abcd");
  write(join(directory, OLD), "old");
  // A folder where a file of the job should go.
  write(join(directory, `k=2/b.csv/${OLD}`), "old");
  const before = readdirSync(directory, { recursive: true }).sort();
  const failing = commit({ sink: sink("overwrite"), files: stage("k=1/a.csv", "k=2/b.csv") });
  await expect(failing).rejects.toThrow(/b\.csv/);
  expect(readdirSync(directory, { recursive: true }).sort()).toEqual(before);
});

test.each(places)(
  "[A11] overwrite: what somebody put there while the job ran is seen at its end (%s)",
  async (_, place) => {
    staging = place();
    write(join(directory, OLD), "old");
    const files = stage("a.csv");
    write(join(directory, "notes.txt"), "mine");
    await expect(commit({ sink: sink("overwrite"), files })).rejects.toThrow(/notes\.txt.*Nothing was changed/);
    expect(all()).toEqual(["notes.txt", OLD]);
    expect(existsSync(staging)).toBe(false);
  },
);

test("[A11] overwrite: what another job stages in the directory stays there", async () => {
  write(join(directory, OLD), "old");
  write(join(directory, ".spillway-89abcdef/part.csv"), "another's");
  await commit({ sink: sink("overwrite"), files: stage("a.csv") });
  expect(all()).toEqual([".spillway-89abcdef/part.csv", "a.csv"]);
});

test("[A11] append: nothing that is there is touched", async () => {
  write(join(directory, "a.csv"), "old");
  await expect(commit({ sink: sink("append"), files: stage("b.csv", "a.csv") })).rejects.toThrow(/is not replaced/);
  expect(all()).toEqual(["a.csv"]);
  await commit({ sink: sink("append"), files: stage("b.csv") });
  expect(all()).toEqual(["a.csv", "b.csv"]);
});
