/**
 * Messy CSV: amounts with signs and commas, dates in two ways, empty fields; rows that make no sense are counted.
 * `messy-csv.ts sales.csv`
 */
import { col, count, readCsv } from "spillway";

const text = { day: "VARCHAR", shop: "VARCHAR", amount: "VARCHAR" };
const sales = readCsv<{ day: string | null; shop: string | null; amount: string | null }>(process.argv[2] ?? "", {
  schema: text,
}).map((row) => {
  const amount = Number((row.amount ?? "").replace(/[€$,\s]/g, "") || Number.NaN);
  const german = /^(\d{2})\.(\d{2})\.(\d{4})$/.exec(row.day ?? "");
  const day = german === null ? (row.day ?? "") : `${german[3]}-${german[2]}-${german[1]}`;
  const good = Number.isFinite(amount) && /^\d{4}-\d{2}-\d{2}$/.test(day);
  return {
    shop: (row.shop ?? "unknown").trim().toLowerCase(),
    month: good ? day.slice(0, 7) : "bad",
    amount: good ? amount : 0,
  };
});
const months = sales.groupBy("shop", "month").agg({ sales: count(), total: col("amount").sum() });
console.log(JSON.stringify(await months.sort(["shop", "month"]).takeAll()));
