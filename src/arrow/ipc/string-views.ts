/**
 * String and binary views (Utf8View, BinaryView; what Polars writes), converted to offsets and bytes. A view is 16
 * bytes: a length, then up to 12 bytes in place, or a 4-byte prefix, a buffer number and an offset in that buffer.
 */
import { ValueError } from "../../errors/index.ts";
import { bitAt } from "../bitmap.ts";

const IN_PLACE = 12;

export function readViews(
  views: Uint8Array,
  buffers: readonly Uint8Array[],
  validity: Uint8Array | null,
  length: number,
): [Uint8Array, Uint8Array] {
  const view = new DataView(views.buffer, views.byteOffset, views.byteLength);
  const offsets = new Int32Array(length + 1);
  let total = 0;
  for (let row = 0; row < length; row++) {
    if (validity === null || bitAt(validity, row)) total += view.getInt32(row * 16, true);
    if (total > 0x7fffffff) throw new ValueError("A column of string views holds more than 2 GiB in one batch.");
    offsets[row + 1] = total;
  }
  const data = new Uint8Array(total);
  for (let row = 0; row < length; row++) {
    const at = offsets[row] as number;
    const size = (offsets[row + 1] as number) - at;
    if (size === 0) continue;
    if (size <= IN_PLACE) {
      data.set(views.subarray(row * 16 + 4, row * 16 + 4 + size), at);
      continue;
    }
    const buffer = buffers[view.getInt32(row * 16 + 8, true)];
    const from = view.getInt32(row * 16 + 12, true);
    if (buffer === undefined || from < 0 || from + size > buffer.byteLength) {
      throw new ValueError(`Not Arrow data: the string view of row ${row} points outside of its buffers.`);
    }
    data.set(buffer.subarray(from, from + size), at);
  }
  return [new Uint8Array(offsets.buffer), data];
}
