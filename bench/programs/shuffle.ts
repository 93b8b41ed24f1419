/** Ours: four columns in a random order, written. */
import { timed } from "./program.ts";

await timed(async (session, job) => {
  await session
    .readParquet([...job.files.lineitem])
    .select("l_orderkey", "l_partkey", "l_shipdate", "l_extendedprice")
    .randomShuffle({ seed: 7 })
    .writeParquet(job.written, { compression: "snappy" });
  return {};
});
