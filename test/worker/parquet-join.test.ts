/** Small Parquet files as one: which of their row groups become one, and that the kernel reads the rows in order. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/index.ts";
import { ParquetJoin } from "../../src/parquet/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const directory = temporaryDirectory("parquet-join");
const kernel = Kernel.open({ threads: 1 });
const connection = kernel.connect();
afterAll(() => {
  connection.close();
  kernel.close();
});

let made = 0;
function fileOf(select: string): Buffer {
  const path = join(directory, `${made++}.parquet`);
  connection.execute(`COPY (${select}) TO '${path}' (FORMAT parquet)`);
  return readFileSync(path);
}

/** The rows of each row group of the joined file, and the values of its column `a`. */
function joined(files: readonly Uint8Array[]): { readonly groups: readonly number[]; readonly values: unknown[] } {
  const all = new ParquetJoin();
  for (const file of files) expect(all.add(file)).toBe(true);
  const path = join(directory, `joined-${made++}.parquet`);
  writeFileSync(path, Buffer.concat([...(all.parts() ?? [])]));
  const groups = connection.all(
    `SELECT row_group_num_rows AS n FROM parquet_metadata('${path}') WHERE column_id = 0 ORDER BY row_group_id`,
  );
  const values = connection.all(`SELECT a FROM '${path}'`).map(({ a }) => a);
  return { groups: groups.map(({ n }) => Number(n)), values };
}

const small = (i: number) => fileOf(`SELECT 'v' || ${i} AS a, ${i}::DOUBLE AS b`);
const numbers = (count: number) => Array.from({ length: count }, (_, i) => `v${i}`);

test("[A1] row groups of a few rows become one", () => {
  const files = numbers(50).map((_, i) => small(i));
  expect(joined(files)).toEqual({ groups: [50], values: numbers(50) });
});

test("[A1] a row group with a dictionary, one of many rows and one of another codec stay in their places", () => {
  const same = fileOf("SELECT 'v1' AS a, 1.5::DOUBLE AS b FROM range(40)");
  const large = fileOf("SELECT 'w' || range AS a, 1.5::DOUBLE AS b FROM range(2000)");
  const { groups, values } = joined([small(0), same, small(2), small(3), large, small(4)]);
  expect(groups).toEqual([1, 40, 2, 2000, 1]);
  expect([values[0], values[1], values[41], values[43], values[2043]]).toEqual(["v0", "v1", "v2", "w0", "v4"]);
  const packed = join(directory, "packed.parquet");
  connection.execute(`COPY (SELECT 'v1' AS a, 1::DOUBLE AS b) TO '${packed}' (FORMAT parquet, CODEC zstd)`);
  const mixed = joined([small(0), readFileSync(packed), small(2)]);
  expect(mixed).toEqual({ groups: [1, 1, 1], values: ["v0", "v1", "v2"] });
});

test("[A1] row groups with lists stay as they are: their pages do not say how many rows they have", () => {
  const files = [1, 2, 3].map((i) => fileOf(`SELECT 'v' || ${i} AS a, [${i}, NULL] AS l`));
  expect(joined(files)).toEqual({ groups: [1, 1, 1], values: ["v1", "v2", "v3"] });
});

test("[A1] a row group whose pages have other counts of values than the footer says stays as it is", () => {
  const file = small(1);
  const pages = file.subarray(4, file.length - 8 - file.readUInt32LE(file.length - 8));
  // The header of a data page: its number of values, one, and its encoding, plain.
  const at = pages.indexOf(Buffer.from([0x15, 0x02, 0x15, 0x00]));
  expect(at).toBeGreaterThan(0);
  pages[at + 1] = 0x04;
  const all = new ParquetJoin();
  expect(all.add(small(0)) && all.add(file) && all.add(small(2))).toBe(true);
  const path = join(directory, "lying.parquet");
  writeFileSync(path, Buffer.concat([...(all.parts() ?? [])]));
  const [count] = connection.all(`SELECT num_row_groups AS n FROM parquet_file_metadata('${path}')`);
  expect(Number(count?.n)).toBe(3);
});
