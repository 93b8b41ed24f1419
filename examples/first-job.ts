/**
 * What `npm start` runs: makes some taxi-like trips once, then reads them as Parquet, filters, applies a row function
 * and writes Parquet, and says what that took.
 */
import { existsSync, rmSync } from "node:fs";
import { col, session, sql } from "spillway";

const ROWS = 5_000_000;
const SAMPLE = ".sample/trips";
const OUT = ".sample/fares";

const s = session({ workers: 2 });
try {
  if (!existsSync(SAMPLE)) {
    console.log(`Making ${ROWS.toLocaleString("en")} sample trips in ${SAMPLE} (once) …`);
    await s
      .range(ROWS)
      .select(
        col("id"),
        sql("DATE '2024-01-01' + (id * 366 // 5000000)::INTEGER").as("day"),
        sql("['cash', 'card', 'app'][1 + (hash(id) % 3)::INTEGER]").as("payment"),
        sql("round((hash(id + 7) % 3000) / 100.0, 2)::DOUBLE").as("km"),
        sql("(hash(id + 13) % 4)::INTEGER").as("passengers"),
      )
      .writeParquet(SAMPLE);
  }
  rmSync(OUT, { recursive: true, force: true });

  const perKm = 2.1;
  const discounts = new Map([
    ["app", 0.9],
    ["card", 1],
  ]);
  const fares = s
    .readParquet(SAMPLE)
    .filter(col("day").ge("2024-07-01").and(col("passengers").gt(0)))
    .map((trip) => ({
      id: trip.id,
      month: trip.day.getUTCMonth() + 1,
      fare: (3 + trip.km * perKm) * (discounts.get(trip.payment) ?? 1.05),
    }));

  const started = performance.now();
  const written = await fares.writeParquet(OUT);
  const seconds = (performance.now() - started) / 1000;

  console.log(`\nRead ${SAMPLE}, kept the second half of the year, computed fares, wrote ${OUT}:`);
  await s.readParquet(OUT).show(5);
  const stats = fares.stats();
  console.log(String(stats));
  const MB = (bytes: number) => `${Math.round(bytes / 1e6)} MB`;
  console.log(
    `${written.rows.toLocaleString("en")} rows in ${written.files.length} files (${MB(written.bytes)}) ` +
      `in ${seconds.toFixed(2)} s, ${Math.round(ROWS / seconds).toLocaleString("en")} input rows a second; ` +
      `peak memory: worker ${MB(stats.job?.peakWorkerMemory ?? 0)}, supervisor ${MB(stats.job?.peakSupervisorMemory ?? 0)}, ` +
      `program ${MB(process.memoryUsage.rss())}.`,
  );
} finally {
  await s.close();
}
