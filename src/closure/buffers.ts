/**
 * Captured ArrayBuffers and views of them. Views of one buffer stay views of one buffer (a Float64Array and the
 * Uint32Array over its bits, for example). Of a large buffer only the stretch that the views cover is shipped.
 */
import { types } from "node:util";
import type { Origin } from "./payload.ts";

export interface CollectedBuffers {
  origin(value: object): Origin;
  /** The bytes of each buffer. Origins that were returned earlier are complete only after this call. */
  finish(): readonly Uint8Array[];
}

interface Stretch {
  readonly index: number;
  readonly memory: ArrayBuffer;
  start: number;
  end: number;
  readonly views: { offset: number; readonly at: number }[];
}

export function collectBuffers(): CollectedBuffers {
  const stretches = new Map<ArrayBuffer, Stretch>();

  function stretchOf(memory: ArrayBuffer, start: number, end: number): Stretch {
    const known = stretches.get(memory);
    if (known !== undefined) {
      known.start = Math.min(known.start, start);
      known.end = Math.max(known.end, end);
      return known;
    }
    const made: Stretch = { index: stretches.size, memory, start, end, views: [] };
    stretches.set(memory, made);
    return made;
  }

  return {
    origin(value) {
      if (types.isArrayBuffer(value)) {
        return { kind: "buffer", buffer: stretchOf(value, 0, value.byteLength).index };
      }
      const view = value as ArrayBufferView & { buffer: ArrayBuffer; length?: number };
      const stretch = stretchOf(view.buffer, view.byteOffset, view.byteOffset + view.byteLength);
      const origin = {
        kind: "view" as const,
        builtin: Buffer.isBuffer(value) ? "Buffer" : String(Reflect.get(view, Symbol.toStringTag)),
        buffer: stretch.index,
        offset: view.byteOffset,
        length: view.length ?? view.byteLength,
      };
      stretch.views.push(Object.assign(origin, { at: view.byteOffset }));
      return origin;
    },
    finish() {
      return Array.from(stretches.values(), ({ memory, start, end, views }) => {
        // Stretches start at multiples of 8, which keeps every element type aligned.
        const from = start - (start % 8);
        for (const view of views) view.offset = view.at - from;
        return new Uint8Array(memory, from, end - from);
      });
    },
  };
}
