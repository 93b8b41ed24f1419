/** The real kernel in this process, and a folder of files for it, which goes with the test file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { InProcessEngine } from "./in-process-engine.ts";

export function kernelAndFiles(name: string) {
  const folder = mkdtempSync(join(tmpdir(), `spillway-${name}-`));
  const engine = new InProcessEngine();
  afterAll(() => {
    engine.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const at = (path: string) => join(folder, path);
  return {
    folder,
    engine,
    at,
    /** Makes it, and the folders it lies in. */
    file(path: string, content: string | Uint8Array): string {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content);
      return at(path);
    },
    sql: (text: string) => engine.connection.execute(text),
  };
}
