/** What the tests of datasets share: an engine without processes, a folder, and four people. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";
import type { EngineSettings } from "../../src/dataset/engine.ts";
import { type Dataset, fromItems } from "../../src/dataset/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

export const engine = new InProcessEngine();
export const folder = mkdtempSync(join(tmpdir(), "spillway-dataset-"));
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

/** One whose blocks no other test can hold. */
export function ownEngine(options: Partial<EngineSettings> = {}): InProcessEngine {
  const own = new InProcessEngine(options);
  onTestFinished(() => own.close());
  return own;
}

export const people = [
  { name: "Ann", age: 31, city: "Oslo", tags: ["a", "b"] },
  { name: "Bob", age: null, city: "Rome", tags: [] },
  { name: "Cid", age: 45, city: null, tags: ["c"] },
  { name: "Dee", age: 19, city: "Oslo", tags: null },
];
export const items = () => fromItems(engine, people);
export const names = async (ds: Dataset<{ name: string }>) => (await ds.takeAll()).map((row) => row.name);
