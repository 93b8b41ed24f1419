/**
 * Ours: every byte passes through the store, because a concurrency of its own keeps `mapBatches` in an operator of its
 * own.
 */
import { timed } from "./program.ts";

const TEXT_LENGTH = 176;

await timed(async (session, job) => {
  await session
    .range(job.rows)
    .map((row) => ({ id: row.id, half: row.id / 2, text: `row ${row.id} `.padEnd(TEXT_LENGTH, "spillway ") }))
    .mapBatches((batch) => ({ ...batch, letters: Array.from(batch.text, (text) => text.length) }), {
      concurrency: { min: 1, max: 64 },
    })
    .writeParquet(job.written, { compression: "snappy" });
  return {};
});
