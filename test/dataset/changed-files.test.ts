/** Files that change between the look that a plan goes by and the reading. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { arrowFileWriter, columnsToBatch } from "../../src/arrow/index.ts";
import { readArrow, readBinary, readCsv, readJson, readParquet, readText } from "../../src/dataset/index.ts";
import { InProcessEngine } from "./in-process-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "spillway-changed-"));
const engine = new InProcessEngine();
afterAll(() => {
  engine.close();
  rmSync(folder, { recursive: true, force: true });
});

function arrowBytes(): Buffer {
  const batch = columnsToBatch({ a: [1, 2, 3] });
  const writer = arrowFileWriter(batch.schema);
  return Buffer.concat([writer.header(), writer.batch(batch), writer.footer()]);
}

function parquetBytes(): Buffer {
  const path = join(folder, "made.parquet");
  engine.connection.execute(`COPY (SELECT range AS a FROM range(3)) TO '${path}'`);
  return readFileSync(path);
}

describe.each([
  ["parquet", readParquet, parquetBytes()],
  ["arrow", readArrow, arrowBytes()],
  ["csv", readCsv, Buffer.from("a\n1\n2\n3\n")],
  ["json", readJson, Buffer.from('{"a":1}\n{"a":2}\n{"a":3}\n')],
  ["text", readText, Buffer.from("1\n2\n3\n")],
  ["binary", readBinary, Buffer.from("123")],
] as const)("%s", (format, read, bytes) => {
  test.each(["longer", "shorter", "written anew", "gone"])(
    "[A18] a file that is %s since the dataset looked at it is an error that names it",
    async (change) => {
      const path = join(folder, `${change}.${format}`);
      writeFileSync(path, bytes);
      const ds = read(engine, path);
      await ds.schema();
      const rows = await ds.takeAll();
      expect(await ds.takeAll()).toEqual(rows);
      if (change === "longer") appendFileSync(path, bytes);
      if (change === "shorter") writeFileSync(path, bytes.subarray(0, 2));
      if (change === "written anew") utimesSync(path, 1, 1);
      if (change === "gone") rmSync(path);
      const failing = ds.takeAll();
      await expect(failing).rejects.toMatchObject({ name: "SourceError", path });
      await expect(failing).rejects.toThrow(/(is gone|has changed .*) since this dataset examined it/);
      await expect(ds.sort(Object.keys(rows[0] ?? {})[0] ?? "").takeAll()).rejects.toThrow(/examined it/);
      writeFileSync(path, bytes);
      expect(await read(engine, path).takeAll()).toEqual(rows);
    },
  );
});
