/**
 * Data many times larger than memory: 20 GB of rows are made, passed through the store, looked at and written, in a box
 * of 1 GiB, compared with the same work without a box. A row has 200 bytes: two numbers and a text.
 */
import { MEMORY_TARGETS, type Workload } from "../workload.ts";

const BOX = 2 ** 30;

export const stream: Workload = {
  name: "stream",
  title: "range → map(200-byte rows) → store → mapBatches → writeParquet, in a box of 1 GiB",
  rows: 100e6,
  scales: true,
  tables: [],
  peers: ["unboxed"],
  runs: 1,
  clock: "work",
  answerOfFiles: `
    SELECT count(*) AS rows, sum(id)::DOUBLE AS ids, sum(half) AS halves, sum(letters)::DOUBLE AS letters
    FROM read_parquet('{written}')`,
  box: BOX,
  targets: [
    { kind: "within", of: "unboxed", factor: 1.2 },
    { kind: "below", figure: "boxHeld", limit: BOX },
    { kind: "below", figure: "boxCharged", limit: BOX + 1 },
    { kind: "below", figure: "boxKills", limit: 1 },
    ...MEMORY_TARGETS,
  ],
};
