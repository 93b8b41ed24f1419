/** A directory for a single test file, removed when the file is done. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

export function temporaryDirectory(name: string): string {
  const path = mkdtempSync(join(tmpdir(), `spillway-test-${name}-`));
  afterAll(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
