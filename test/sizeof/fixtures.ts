/** Builds big values one after the other, and prints what the process and what sizeof say that each takes. */
import { sizeof } from "../../src/sizeof/index.ts";

const N = 200_000;
const values: Readonly<Record<string, () => unknown>> = {
  rows: () => Array.from({ length: N }, (_, i) => ({ id: i, price: i + 0.5, name: `name ${i}` })),
  numbers: () => Array.from({ length: N * 5 }, (_, i) => i + 0.5),
  integers: () => Array.from({ length: N * 5 }, (_, i) => i),
  latin: () => Array.from({ length: N }, (_, i) => `${i} ${"é".repeat(50)}`.toUpperCase()),
  wide: () => Array.from({ length: N }, (_, i) => `${i} ${"€".repeat(50)}`.toUpperCase()),
  map: () => new Map(Array.from({ length: N }, (_, i) => [`key ${i}`, { i }])),
  set: () => new Set(Array.from({ length: N }, (_, i) => `key ${i}`)),
  nested: () => Array.from({ length: N / 10 }, (_, i) => Array.from({ length: 10 }, (_, k) => [i, { k }])),
  typed: () => Array.from({ length: 100 }, () => new Float64Array(20_000).fill(1)),
  dates: () => Array.from({ length: N }, (_, i) => new Date(i)),
  bigints: () => Array.from({ length: N }, (_, i) => 2n ** 70n + BigInt(i)),
  dictionary: () => Object.fromEntries(Array.from({ length: N }, (_, i) => [`key ${i}`, `value ${i}`])),
};

function used(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const kept: unknown[] = [];
const found: Record<string, { real: number; told: number }> = {};
for (const [name, make] of Object.entries(values)) {
  const before = used();
  const value = make();
  kept.push(value);
  found[name] = { real: used() - before, told: sizeof(value) };
}
process.stdout.write(JSON.stringify(found));
