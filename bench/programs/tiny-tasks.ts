/** Ours: as many tasks as rows. */
import { timed } from "./program.ts";

await timed(async (session, job) => {
  const rows = await session
    .range(job.rows, { overrideNumBlocks: job.tasks })
    .map((row) => ({ double: row.id * 2 }))
    .takeAll();
  return { rows: rows.length, sum: rows.reduce((total, row) => total + row.double, 0) };
});
