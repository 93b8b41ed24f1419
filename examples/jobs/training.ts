/**
 * A training loop: a line through points, by gradient descent over shuffled batches; another order in each epoch.
 * `training.ts points.parquet`
 */
import { readParquet } from "spillway";

const points = readParquet<{ x: number; y: number }>(process.argv[2] ?? "");
let [slope, offset] = [0, 0];
for (let epoch = 0; epoch < 20; epoch++) {
  const shuffled = { batchSize: 32, localShuffle: { bufferSize: 256, seed: epoch } };
  for await (const { x, y } of points.iterBatches(shuffled)) {
    let [bySlope, byOffset] = [0, 0];
    for (let i = 0; i < x.length; i++) {
      const error = slope * (x[i] ?? 0) + offset - (y[i] ?? 0);
      bySlope += error * (x[i] ?? 0);
      byOffset += error;
    }
    slope -= (0.5 * bySlope) / x.length;
    offset -= (0.5 * byOffset) / x.length;
  }
}
console.log(JSON.stringify({ slope, offset }));
