/**
 * The hot paths of the Arrow layer, one after the other, best of several runs: `npx tsx bench/micro/arrow.ts`. Chunks
 * have 2,048 rows, as the kernel makes them. For finding what got slower, not for comparing with other libraries.
 */
import {
  BlockBuilder,
  ColumnAssembler,
  columnsToBatch,
  compileRows,
  parseTypeName,
  planBlock,
  type RecordBatch,
  RowBuilder,
  readBlock,
  sliceBatch,
} from "../../src/arrow/index.ts";

const CHUNK = 2048;
const RUNS = 5;

function best(run: () => void): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < RUNS; round++) {
    const start = performance.now();
    run();
    fastest = Math.min(fastest, performance.now() - start);
  }
  return fastest;
}

function report(name: string, milliseconds: number, rows: number, bytes = 0): void {
  const perRow = `${((milliseconds * 1e6) / rows).toFixed(1)} ns/row`;
  const rate = bytes > 0 ? `${(bytes / milliseconds / 1e6).toFixed(2)} GB/s` : "";
  console.log(`${name.padEnd(58)} ${milliseconds.toFixed(1).padStart(8)} ms  ${perRow.padStart(14)}  ${rate}`);
}

const WORDS = "carefully final deposits sleep furiously among the regular quick packages".split(" ");

function comment(row: number): string {
  return `${WORDS[row % WORDS.length]} ${WORDS[(row * 7) % WORDS.length]} ${row} ${WORDS[(row * 3) % WORDS.length]}`;
}

function chunksOf(batch: RecordBatch): RecordBatch[] {
  const chunks: RecordBatch[] = [];
  for (let start = 0; start < batch.length; start += CHUNK) chunks.push(sliceBatch(batch, start, start + CHUNK));
  return chunks;
}

/** The input of a row function: a key, two prices, a comment. */
function lineItems(rows: number): RecordBatch {
  const index = Array.from({ length: rows }, (_, row) => row);
  return columnsToBatch({
    key: BigInt64Array.from(index, BigInt),
    price: Float64Array.from(index, (row) => row * 1.25),
    discount: Float64Array.from(index, (row) => (row % 10) / 100),
    comment: index.map(comment),
  });
}

const rows = 1 << 20;
const items = chunksOf(lineItems(rows));
const [firstItems] = items;
if (firstItems === undefined) throw new Error("no chunks");
const { schema } = firstItems;

const reader = compileRows(schema, {});
let sum = 0;
report(
  "rows out: bigint, 2 doubles, a string",
  best(() => {
    for (const chunk of items) {
      reader.load(chunk);
      for (let row = 0; row < chunk.length; row++) {
        const { price, discount } = reader.row(row) as { price: number; discount: number };
        sum += price * (1 - discount);
      }
    }
  }),
  rows,
);

const plainRows = Array.from({ length: 1 << 16 }, (_, row) => ({
  k: row,
  revenue: row * 1.25,
  text: comment(row).slice(0, 3),
  note: comment(row),
}));
const builder = new RowBuilder();
report(
  "rows in: 2 doubles, a short and a long string",
  best(() => {
    for (let round = 0; round < 16; round++) {
      for (const row of plainRows) builder.append(row);
      builder.finish();
    }
  }),
  16 * plainRows.length,
);

const unicode = plainRows.map((row) => ({ ...row, note: `${row.note} – ${row.text}é` }));
const unicodeBuilder = new RowBuilder();
report(
  "rows in: the same, not all ASCII",
  best(() => {
    for (let round = 0; round < 16; round++) {
      for (const row of unicode) unicodeBuilder.append(row);
      unicodeBuilder.finish();
    }
  }),
  16 * unicode.length,
);

const through = new RowBuilder();
report(
  "row function: out, a small map, in",
  best(() => {
    for (const chunk of items) {
      reader.load(chunk);
      for (let row = 0; row < chunk.length; row++) {
        const item = reader.row(row) as { key: number; price: number; discount: number; comment: string };
        through.append({
          k: item.key,
          r: item.price * (1 - item.discount),
          t: item.comment.slice(0, 3).toUpperCase(),
        });
      }
      if (through.rows > 60_000) through.finish();
    }
    through.finish();
  }),
  rows,
);

const keys = new Map([["key", parseTypeName("BIGINT")]]);
const passing = new RowBuilder(undefined, keys);
report(
  "row function: out, a column more, in, types kept",
  best(() => {
    for (const chunk of items) {
      reader.load(chunk);
      for (let row = 0; row < chunk.length; row++) {
        const { key, price, discount, comment } = reader.row(row);
        passing.append({ key, price, discount, comment, revenue: Number(price) * (1 - Number(discount)) });
      }
      if (passing.rows > 60_000) passing.finish();
    }
    passing.finish();
  }),
  rows,
);

const batchOfKeys = { key: Float64Array.from({ length: 1024 }, (_, row) => row * 3) };
report(
  "columns in: 64-bit integers from doubles, batches of 1024",
  best(() => {
    for (let round = 0; round < rows / 1024; round++) sum += columnsToBatch(batchOfKeys, undefined, keys).length;
  }),
  rows,
  rows * 8,
);

const prices = new Map([["key", parseTypeName("DECIMAL(15,2)")]]);
report(
  "columns in: decimals from doubles, batches of 1024",
  best(() => {
    for (let round = 0; round < rows / 1024; round++) sum += columnsToBatch(batchOfKeys, undefined, prices).length;
  }),
  rows,
  rows * 16,
);

const numbers = columnsToBatch({
  a: new Float64Array(1_500_000).map((_, row) => row),
  b: new Float64Array(1_500_000).map((_, row) => row * 2),
  c: new Float64Array(1_500_000),
  d: new Float64Array(1_500_000),
  e: new Float64Array(1_500_000),
});
const numberChunks = chunksOf(numbers);
const blocks = new BlockBuilder();
report(
  "block building: 5 doubles, 60 MB",
  best(() => {
    for (const chunk of numberChunks) blocks.append(chunk);
    blocks.finish();
  }),
  numbers.length,
  60e6,
);

const textBlocks = new BlockBuilder();
let textBytes = 0;
report(
  "block building: bigint, 2 doubles, a string",
  best(() => {
    for (const chunk of items) textBlocks.append(chunk);
    textBytes = textBlocks.byteLength;
    textBlocks.finish();
  }),
  rows,
  textBytes,
);

const arena = new Uint8Array(planBlock(numbers).byteLength);
report(
  "block writing: 60 MB into memory touched before",
  best(() => planBlock(numbers).write(arena)),
  numbers.length,
  60e6,
);
report(
  "block reading: 1000 blocks opened",
  best(() => {
    for (let round = 0; round < 1000; round++) readBlock(arena);
  }),
  1000,
);

for (const batchSize of [1024, 65_536]) {
  const pair = chunksOf(columnsToBatch({ a: new Float64Array(6_000_000), b: new Float64Array(6_000_000) }));
  const [first] = pair;
  if (first === undefined) throw new Error("no chunks");
  const assembler = new ColumnAssembler(first.schema, {}, batchSize);
  report(
    `columns out: 6 M rows of 2 doubles, batches of ${batchSize}`,
    best(() => {
      for (const chunk of pair) {
        assembler.push(chunk);
        for (let batch = assembler.next(); batch !== null; batch = assembler.next()) sum += batch.a?.length ?? 0;
      }
      assembler.flush();
    }),
    6_000_000,
    96e6,
  );
}
if (Number.isNaN(sum)) throw new Error("the sums are off");
