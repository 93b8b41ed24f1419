/**
 * ETL: packed lines of JSON into Parquet by day and country; lines that make no sense go to a directory of their own.
 * `etl.ts raw/ out/ bad/`
 */
import { rmSync } from "node:fs";
import { count, readJson, readParquet } from "spillway";

interface Order {
  readonly id: number;
  readonly placed: string;
  readonly country: string | null;
  readonly lines: readonly { readonly sku: string; readonly price: number; readonly quantity: number }[];
}

const [raw = "", out = "", bad = ""] = process.argv.slice(2);
// Dead letters of earlier runs stay.
rmSync(bad, { recursive: true, force: true });
const orders = readJson<Order>(`${raw}/*.ndjson.gz`, { schema: { placed: "VARCHAR" } }).map(
  function clean(order) {
    const placed = new Date(order.placed);
    if (Number.isNaN(placed.getTime())) throw new Error(`order ${order.id} was placed at ${order.placed}`);
    if (order.lines.length === 0) throw new Error(`order ${order.id} has no lines`);
    let cents = 0;
    for (const line of order.lines) cents += Math.round(line.price * 100) * line.quantity;
    const country = (order.country ?? "unknown").toUpperCase();
    return { id: order.id, day: placed.toISOString().slice(0, 10), country, placed, cents };
  },
  { onError: { deadLetter: bad } },
);
await orders.writeParquet(out, { partitionBy: ["day", "country"], mode: "overwrite" });

const written = readParquet<{ id: number; cents: number; day: Date; country: string }>(out);
const days = await written.groupBy("day", "country").agg({ orders: count() }).sort(["day", "country"]).takeAll();
const errors = await readJson<{ error: string }>(bad).select("error").sort("error").takeAll();
console.log(JSON.stringify({ days, errors }));
