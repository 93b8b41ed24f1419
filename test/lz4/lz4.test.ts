import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeLz4Block, encodeLz4Block, Lz4Error, lz4Bound } from "../../src/lz4/index.ts";
import { noise, text } from "../support/arena.ts";

function encoded(raw: Uint8Array): Uint8Array {
  const target = new Uint8Array(lz4Bound(raw.length));
  return target.subarray(0, encodeLz4Block(raw, target));
}

function decoded(block: Uint8Array, length: number): Uint8Array {
  const target = new Uint8Array(length);
  expect(decodeLz4Block(block, 0, block.length, target, 0)).toBe(length);
  return target;
}

/** How many literals end the block, and where its last match starts. */
function tail(block: Uint8Array): { literals: number; lastMatch: number } {
  let from = 0;
  let to = 0;
  let lastMatch = -1;
  const long = (part: number) => {
    let length = part;
    for (let more = part === 15 ? 255 : 0; more === 255; length += more) more = block[from++] ?? 0;
    return length;
  };
  for (;;) {
    const token = block[from++] ?? 0;
    const literals = long(token >> 4);
    from += literals;
    to += literals;
    if (from >= block.length) return { literals, lastMatch };
    from += 2;
    lastMatch = to;
    to += long(token & 15) + 4;
  }
}

/** Runs and repeats among noise, near and far: where a codec's edges are. */
const mixed = fc
  .array(
    fc.oneof(
      fc.record({ kind: fc.constant("noise"), length: fc.nat(300), back: fc.nat(1000) }),
      fc.record({ kind: fc.constant("run"), length: fc.nat(2000), back: fc.nat(255) }),
      fc.record({ kind: fc.constant("copy"), length: fc.nat(70_000), back: fc.nat(80_000) }),
    ),
    { maxLength: 20 },
  )
  .map((parts) => {
    const out: number[] = [];
    for (const [index, { kind, length, back }] of parts.entries()) {
      const random = kind === "noise" ? noise(length, index * 31 + back) : null;
      for (let at = 0; at < length; at++) {
        const copied = out[Math.max(0, out.length - 1 - back)] ?? 0;
        out.push(random === null ? (kind === "run" ? back : copied) : (random[at] ?? 0));
      }
    }
    return Uint8Array.from(out);
  });

test("any bytes come back, within the bound, and the block ends as the format wants it", () => {
  fc.assert(
    fc.property(fc.oneof(mixed, fc.uint8Array({ maxLength: 100 })), (raw) => {
      const block = encoded(raw);
      expect(block.length).toBeLessThanOrEqual(lz4Bound(raw.length));
      expect(Buffer.compare(decoded(block, raw.length), raw)).toBe(0);
      const { literals, lastMatch } = tail(block);
      if (lastMatch >= 0) {
        expect(literals).toBeGreaterThanOrEqual(5);
        expect(lastMatch).toBeLessThanOrEqual(raw.length - 12);
      }
    }),
    { numRuns: 300 },
  );
});

test("what repeats shrinks, what does not hardly grows", () => {
  expect(encoded(new Uint8Array(1 << 18)).length).toBeLessThan(1100);
  expect(encoded(text(1 << 18)).length).toBeLessThan(0.5 * (1 << 18));
  expect(encoded(noise(1 << 18)).length).toBeLessThan(1.005 * (1 << 18));
});

test("damaged blocks end in an error or in other bytes, never past the target", () => {
  const raw = text(5000);
  const block = encoded(raw);
  fc.assert(
    fc.property(fc.nat(block.length - 1), fc.integer({ min: 1, max: 255 }), fc.nat(block.length), (at, flip, cut) => {
      const damaged = Uint8Array.from(block);
      damaged[at] = (damaged[at] ?? 0) ^ flip;
      const guarded = new Uint8Array(6000).fill(7);
      try {
        expect(decodeLz4Block(damaged, 0, cut, guarded.subarray(0, 5000), 0)).toBeLessThanOrEqual(5000);
      } catch (error) {
        expect(error).toBeInstanceOf(Lz4Error);
      }
      expect(guarded.subarray(5000).every((byte) => byte === 7)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
