/** Ours: a numeric function over columns, with one sum per batch. */
import { timed } from "./program.ts";

interface LineItem {
  l_extendedprice: number;
  l_discount: number;
}

await timed(async (session, job) => {
  const sums = await session
    .readParquet<LineItem>([...job.files.lineitem], { columns: ["l_extendedprice", "l_discount"] })
    .mapBatches(
      (batch) => {
        const price = batch.l_extendedprice;
        const discount = batch.l_discount;
        let sum = 0;
        for (let i = 0; i < price.length; i++) {
          sum += Math.log1p((price[i] ?? 0) * (1 - (discount[i] ?? 0)));
        }
        return { rows: [price.length], sum: [sum] };
      },
      { batchSize: 65_536 },
    )
    .takeAll();
  const total = { rows: 0, sum: 0 };
  for (const batch of sums) {
    total.rows += batch.rows;
    total.sum += batch.sum;
  }
  return total;
});
