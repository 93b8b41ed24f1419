// Relational work over rows of 200 bytes, several times the box: sorted and written, joined and grouped, grouped after
// a function, shuffled. argv: directory, what, bytes.
import { join } from "node:path";
import { col, count, session } from "spillway";
import { rowsOf, wide } from "./rows.mjs";

const [directory, what, bytes] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const rows = rowsOf(bytes);
const s = session({ progress: false, localDirectory: process.env.TMPDIR });

async function made() {
  const path = join(directory, "data");
  await s.range(rows).map(wide).writeParquet(path);
  return s.readParquet(path);
}

const WORK = {
  async sort() {
    const data = await made();
    const { rows: written } = await data
      .sort(["half", "id"], { descending: true })
      .writeParquet(join(directory, "sorted"));
    const [first] = await s.readParquet(join(directory, "sorted")).limit(1).takeAll();
    return { written, first: first.id };
  },
  async join() {
    const data = await made();
    const other = data.select("id", col("text").as("other"));
    const joined = data.join(other, { on: "id" });
    return joined.agg({ n: count(), equal: count().where(col("text").eq(col("other"))), ids: col("id").sum() });
  },
  // Half of the rows have one key.
  async skew() {
    const data = (await made()).withColumn("key", col("id").modulo(2).multiply(col("id")));
    const keys = s.range(rows).withColumn("key", col("id")).select("key");
    return data.join(keys, { on: "key" }).agg({ n: count(), ids: col("id").sum() });
  },
  groups() {
    return s
      .range(rows)
      .map(wide)
      .groupBy("id")
      .agg({ n: count(), text: col("text").max() })
      .agg({ n: count(), ids: col("id").sum() });
  },
  async mapGroups() {
    const counted = await s
      .range(rows)
      .map(wide)
      .withColumn("key", col("id").modulo(1000))
      .groupBy("key")
      .mapGroups((group) => ({ key: [group.key[0]], n: [group.id.length] }))
      .agg({ n: col("n").sum(), keys: count() });
    return counted;
  },
  async shuffle() {
    const shuffled = s.range(rows).map(wide).randomShuffle({ seed: 7 });
    let seen = 0;
    let sum = 0;
    for await (const batch of shuffled.iterBatches({ batchSize: 8192 })) {
      seen += batch.id.length;
      for (const id of batch.id) sum += id;
    }
    return { seen, sum };
  },
};

console.log(JSON.stringify(await WORK[what]()));
await s.close();
