/**
 * Embeddings: texts through a model that each worker loads once, then the nearest to a question. `embeddings.ts
 * texts.ndjson "a question"`
 */
import { readJson } from "spillway";

const [texts = "", question = ""] = process.argv.slice(2);

/** In place of a real model: which words a text has, hashed into 64 numbers, of length 1. */
class Model {
  embed(text: string): Float64Array {
    const vector = new Float64Array(64);
    for (const word of text.toLowerCase().split(/\W+/)) {
      let hash = 7;
      for (const letter of word) hash = (hash * 31 + letter.charCodeAt(0)) % 64;
      vector[hash] = (vector[hash] ?? 0) + 1;
    }
    const length = Math.hypot(...vector);
    return vector.map((value) => value / length);
  }
  call(batch: { id: Iterable<number>; text: Iterable<string> }) {
    return { id: Array.from(batch.id), vector: Array.from(batch.text, (text) => this.embed(text)) };
  }
}

const wanted = new Model().embed(question);
const nearest = readJson<{ id: number; text: string }>(texts)
  .mapBatches(Model)
  .map((row) => {
    let score = 0;
    for (const [i, value] of row.vector.entries()) score += value * (wanted[i] ?? 0);
    return { id: row.id, score };
  })
  .sort(["score", "id"], { descending: [true, false] })
  .limit(3);
console.log(JSON.stringify(await nearest.takeAll()));
