/**
 * Scores from a slow service: a large table with a reference table, asked in batches by a class that tries again.
 * `scoring.ts reviews/ products.csv http://host/score`
 */
import { col, count, readCsv, readParquet } from "spillway";

const [reviews = "", products = "", url = ""] = process.argv.slice(2);

interface Asked {
  readonly product: string;
  readonly title: string;
  readonly text: string;
}

/** One for each worker; it asks up to 8 times at once. */
class Scorer {
  constructor(
    private readonly url: string,
    private readonly attempts: number,
  ) {}

  async call(rows: readonly Asked[]) {
    const prompts = rows.map(({ title, text }) => `${title}: ${text}`);
    const scores = await this.#ask(prompts);
    return rows.map(({ product }, i) => ({ product, score: scores[i] ?? Number.NaN }));
  }

  async #ask(prompts: readonly string[]): Promise<readonly number[]> {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(this.url, { method: "POST", body: JSON.stringify(prompts) });
      if (response.ok) return JSON.parse(await response.text());
      if (attempt === this.attempts) throw new Error(`${response.status} after ${attempt} attempts`);
      await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** attempt));
    }
  }
}

const scored = readParquet<{ product: string; text: string }>(reviews)
  .join(readCsv<{ product: string; title: string }>(products), { on: "product" })
  .mapBatches(Scorer, { constructorArgs: [url, 5], batchFormat: "rows", batchSize: 20, maxInFlight: 8 });
const best = scored.groupBy("product").agg({ reviews: count(), score: col("score").mean() });
console.log(JSON.stringify(await best.sort("product").takeAll()));
