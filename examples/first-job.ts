/**
 * What `npm start` runs: makes some taxi-like trips once, then reads them as Parquet, filters, applies a row function
 * and a class, writes Parquet, and says what that took. On a terminal its dashboard stays open until a key is pressed.
 * Less data, elsewhere: `npm start -- 100000 /tmp/trips`
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { col, session, sql } from "spillway";

const [rows = "5000000", directory = ".sample"] = process.argv.slice(2);
const ROWS = Number(rows);
const SAMPLE = join(directory, `trips-${ROWS}`);
const OUT = join(directory, "fares");

/** In place of a model that guesses tips: it takes memory to keep, and time to ask. */
class Tips {
  private readonly weights = new Float64Array(16_000_000).map((_, i) => (i % 7) - 3);

  call(batch: { id: ArrayLike<number>; month: ArrayLike<number>; fare: ArrayLike<number> }) {
    return { ...batch, tip: Float64Array.from(batch.fare, (fare, row) => fare * this.share(batch.id[row] ?? 0)) };
  }

  private share(id: number): number {
    let sum = 0;
    for (let layer = 1; layer <= 25; layer++) sum += this.weights[(id * layer * 7919) % this.weights.length] ?? 0;
    return 0.1 + sum / 10_000;
  }
}

const s = session({ workers: 2 });
try {
  // Starts the session's processes. On a terminal the session itself says where its dashboard is.
  await s.resources();
  if (!process.stderr.isTTY && s.dashboardUrl !== null) console.log(`Dashboard while it runs: ${s.dashboardUrl}`);
  if (!existsSync(SAMPLE)) {
    console.log(`Making ${ROWS.toLocaleString("en")} sample trips in ${SAMPLE} (once) …`);
    await s
      .range(ROWS)
      .select(
        col("id"),
        sql(`DATE '2024-01-01' + (id * 366 // ${ROWS})::INTEGER`).as("day"),
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
    .map(function fare(trip) {
      return {
        id: trip.id,
        month: trip.day.getUTCMonth() + 1,
        fare: (3 + trip.km * perKm) * (discounts.get(trip.payment) ?? 1.05),
      };
    })
    .mapBatches(Tips, { concurrency: 1 }); // one worker has the model

  const started = performance.now();
  const written = await fares.writeParquet(OUT);
  const seconds = (performance.now() - started) / 1000;

  console.log(`\nRead ${SAMPLE}, kept the second half of the year, computed fares and tips, wrote ${OUT}:`);
  await s.readParquet(OUT).show(5);
  console.log(String(fares.stats()));
  console.log(
    `${written.rows.toLocaleString("en")} rows in ${written.files.length} files ` +
      `(${(written.bytes / 2 ** 20).toFixed(1)} MiB) in ${seconds.toFixed(2)} s, ` +
      `${Math.round(ROWS / seconds).toLocaleString("en")} input rows a second.`,
  );
  console.log(`\n${fares.diagnose()}`);
  if (process.stdin.isTTY && process.stdout.isTTY && s.dashboardUrl !== null) await keyPressed(s.dashboardUrl);
} finally {
  await s.close();
}
console.log("\nThe session as one HTML file: npx spillway report. Memory, kills, logs: npx spillway --help");

/** The session, and so its dashboard, stays until then. */
async function keyPressed(url: string): Promise<void> {
  console.log(`\nThe dashboard stays open at ${url}\nPress a key to end.`);
  process.stdin.setRawMode(true);
  await new Promise<void>((resolve) => process.stdin.once("data", () => resolve()));
  process.stdin.setRawMode(false);
  process.stdin.pause();
}
