/** Ours: four columns in the order of two, written. */
import { timed } from "./program.ts";

await timed(async (session, job) => {
  await session
    .readParquet([...job.files.lineitem])
    .select("l_orderkey", "l_partkey", "l_shipdate", "l_extendedprice")
    .sort(["l_shipdate", "l_partkey"])
    .writeParquet(job.written, { compression: "snappy" });
  return {};
});
