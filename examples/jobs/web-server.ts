/** A web server that answers from Parquet files: GET /totals?above=10. `web-server.ts data/` prints its port. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { col, count, session } from "spillway";

const s = session({ workers: 1, progress: false });
const data = s.readParquet<{ k: number; v: number }>(process.argv[2] ?? "");

const server = createServer(async (request, response) => {
  try {
    const { searchParams } = new URL(request.url ?? "/", "http://localhost");
    const above = Number(searchParams.get("above") ?? 0);
    const totals = data
      .filter(col("v").gt(above))
      .groupBy("k")
      .agg({ rows: count(), total: col("v").sum() });
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(await totals.sort("k").takeAll()));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
server.listen(0, () => console.log((server.address() as AddressInfo).port));
process.once("SIGTERM", async () => {
  server.close();
  await s.close();
});
