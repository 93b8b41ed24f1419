/**
 * Writes columns to an Arrow IPC stream with our writer, with flechette and with apache-arrow: `npx tsx
 * bench/micro/arrow-writers.ts`. CPU time is the median of alternating rounds. The last column is the largest power of
 * two (up to 64) that divides the offset of every buffer in the stream.
 */
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { columnsToBatch, planBlock } from "../../src/arrow/index.ts";

const ROWS = 1 << 19;
const ROUNDS = 9;

const index = Array.from({ length: ROWS }, (_, row) => row);
const columns = {
  key: BigInt64Array.from(index, BigInt),
  price: Float64Array.from(index, (row) => row * 1.25),
  comment: index.map((row) => `carefully final deposits ${row}`),
};

/** As a worker writes a block: first the length, then directly into the granted range. */
function ours(): Uint8Array {
  const plan = planBlock(columnsToBatch(columns));
  const place = new Uint8Array(plan.byteLength);
  plan.write(place);
  return place;
}

function byFlechette(): Uint8Array {
  const types = { key: flechette.int64(), price: flechette.float64(), comment: flechette.utf8() };
  const bytes = flechette.tableToIPC(flechette.tableFromArrays(columns, { types, useBigInt: true }), {});
  if (bytes === null) throw new Error("flechette wrote nothing");
  return bytes;
}

function byApache(): Uint8Array {
  const comment = apache.vectorFromArray(columns.comment, new apache.Utf8());
  const { key, price } = columns;
  const table = new apache.Table({ key: apache.makeVector(key), price: apache.makeVector(price), comment });
  return apache.tableToIPC(table, "stream");
}

function alignment(bytes: Uint8Array): number {
  let aligned = 64;
  for (const { data } of apache.tableFromIPC(bytes).batches) {
    for (const { buffers } of data.children) {
      for (const buffer of Object.values(buffers)) {
        if (!ArrayBuffer.isView(buffer) || buffer.byteLength === 0 || buffer.buffer !== bytes.buffer) continue;
        while ((buffer.byteOffset - bytes.byteOffset) % aligned !== 0) aligned /= 2;
      }
    }
  }
  return aligned;
}

const writers = { ours, flechette: byFlechette, "apache-arrow": byApache };
const times = new Map<string, number[]>();
for (let round = 0; round < ROUNDS + 2; round++) {
  for (const [name, write] of Object.entries(writers)) {
    const start = process.cpuUsage();
    write();
    const { user, system } = process.cpuUsage(start);
    if (round >= 2) times.set(name, [...(times.get(name) ?? []), (user + system) / 1000]);
  }
}
for (const [name, write] of Object.entries(writers)) {
  const bytes = write();
  const median = (times.get(name) ?? []).sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
  const size = `${(bytes.byteLength / 2 ** 20).toFixed(0)} MiB`;
  console.log(name.padEnd(14), `${median.toFixed(0)} ms`, size, alignment(bytes));
}
