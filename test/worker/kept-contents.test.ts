/** Contents that a question has read are taken by tasks of the same call, once, and only if they are new enough. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { onSystemClock, systemClock } from "../../src/units/index.ts";
import { KeptContents, keptContents } from "../../src/worker/joined/kept-contents.ts";
import { WholeFiles } from "../../src/worker/joined/whole-files.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "spillway-kept-"));
});
afterEach(() => {
  keptContents.clear();
  rmSync(folder, { recursive: true, force: true });
});

const textOf = (bytes: Uint8Array | null) => (bytes === null ? null : Buffer.from(bytes).toString());

function fileOf(text: string): string {
  const path = join(folder, "one.json");
  writeFileSync(path, text);
  return path;
}

test("[A18] a task of the same call takes what the question read; whoever comes later reads the file", () => {
  const since = systemClock();
  const path = fileOf("then");
  expect(textOf(new WholeFiles({ for: "question" }).read(path))).toBe("then");
  writeFileSync(path, "now");
  const task = new WholeFiles({ for: "task", since });
  expect(textOf(task.read(path))).toBe("then");
  expect(keptContents.held).toBe(0);
  expect(textOf(task.read(path))).toBe("now");
});

test("[A18] a task of a later call reads the file, and the older content is dropped", () => {
  const path = fileOf("then");
  new WholeFiles({ for: "question" }).read(path);
  writeFileSync(path, "now");
  const since = onSystemClock(performance.now());
  expect(textOf(new WholeFiles({ for: "task", since }).read(path))).toBe("now");
  expect(keptContents.held).toBe(0);
});

test("[A18] a reader that is neither for a question nor for a task keeps nothing and takes nothing", () => {
  const path = fileOf("then");
  new WholeFiles(null).read(path);
  expect(keptContents.held).toBe(0);
  new WholeFiles({ for: "question" }).read(path);
  writeFileSync(path, "now");
  expect(textOf(new WholeFiles(null).read(path))).toBe("now");
});

test("[A18] what is kept is bounded, and a newer content replaces an older one of the same file", () => {
  const kept = new KeptContents();
  try {
    const million = new Uint8Array(1e6);
    for (let i = 0; i < 100; i++) kept.keep(`/files/${i}`, million, i);
    expect(kept.held).toBeLessThanOrEqual(16 * 2 ** 20);
    expect(kept.held).toBeGreaterThan(15 * 2 ** 20);
    const { held } = kept;
    kept.keep("/files/0", million, 7);
    expect(kept.held).toBe(held);
    expect(kept.take("/files/0", 7)?.length).toBe(1e6);
    expect(kept.take("/files/99", 0)).toBeNull();
  } finally {
    kept.clear();
  }
  expect(kept.held).toBe(0);
});
