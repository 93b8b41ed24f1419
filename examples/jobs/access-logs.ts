/** Access logs: requests, bytes and errors of each path. `access-logs.ts logs/*.log` */
import { col, count, readText } from "spillway";

const LINE = /^(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) [^"]*" (\d{3}) (\d+|-)/;

const requests = readText(process.argv.slice(2)).flatMap((row) => {
  const [, host, , method, path, status, bytes] = LINE.exec(row.text) ?? [];
  if (host === undefined || path === undefined) return [];
  return [{ host, method, path, status: Number(status), bytes: bytes === "-" ? 0 : Number(bytes) }];
});
const paths = requests
  .withColumn("failed", col("status").ge(400).cast("INTEGER"))
  .groupBy("path")
  .agg({ requests: count(), bytes: col("bytes").sum(), errors: col("failed").sum() })
  .sort("path");
console.log(JSON.stringify(await paths.takeAll()));
