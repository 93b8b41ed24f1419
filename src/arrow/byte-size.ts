/** How many bytes values take, without a look at them: from widths and offsets. Bitmaps of nulls do not count. */
import { layoutOf } from "./layout.ts";
import type { Vector } from "./types.ts";
import { offsetAt, offsetsOf } from "./vector.ts";

/** The bytes of rows [start, end). A dictionary counts by its indices. */
export function bytesOfRows(vector: Vector, start: number, end: number): number {
  const layout = layoutOf(vector.type);
  const rows = end - start;
  const [child] = vector.children;
  switch (layout.kind) {
    case "none":
      return 0;
    case "bits":
      return rows / 8;
    case "fixed":
    case "dictionary":
      return rows * layout.width;
    case "bytes": {
      const offsets = offsetsOf(vector);
      return offsetAt(offsets, end) - offsetAt(offsets, start) + 4 * rows;
    }
    case "list": {
      const offsets = offsetsOf(vector);
      const inside = child === undefined ? 0 : bytesOfRows(child, offsetAt(offsets, start), offsetAt(offsets, end));
      return inside + 4 * rows;
    }
    case "fixedList": {
      const from = (vector.offset + start) * layout.size;
      return child === undefined ? 0 : bytesOfRows(child, from, from + rows * layout.size);
    }
    case "struct":
      return vector.children.reduce(
        (sum, each) => sum + bytesOfRows(each, vector.offset + start, vector.offset + end),
        0,
      );
  }
}
