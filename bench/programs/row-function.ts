/** Ours: a row function; its results are summed batch by batch in the workers. */
import { timed } from "./program.ts";

interface LineItem {
  l_orderkey: number;
  l_extendedprice: number;
  l_discount: number;
  l_comment: string;
}

await timed(async (session, job) => {
  const sums = await session
    .readParquet<LineItem>([...job.files.lineitem], {
      columns: ["l_orderkey", "l_extendedprice", "l_discount", "l_comment"],
    })
    .map((r) => ({
      k: r.l_orderkey,
      r: r.l_extendedprice * (1 - r.l_discount),
      t: r.l_comment.slice(0, 3).toUpperCase(),
    }))
    .mapBatches((batch) => {
      let k = 0;
      let r = 0;
      let furious = 0;
      for (let i = 0; i < batch.k.length; i++) {
        k += batch.k[i] ?? 0;
        r += batch.r[i] ?? 0;
        furious += batch.t[i] === "FUR" ? 1 : 0;
      }
      return { rows: [batch.k.length], k: [k], r: [r], furious: [furious] };
    })
    .takeAll();
  const total = { rows: 0, k: 0, r: 0, furious: 0 };
  for (const sum of sums) {
    total.rows += sum.rows;
    total.k += sum.k;
    total.r += sum.r;
    total.furious += sum.furious;
  }
  return total;
});
