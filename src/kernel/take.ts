/** Turns a dictionary column into plain values: row i is value number index[i] of the dictionary. */
import { bitAt, type DataType, type IntType, layoutOf, type Vector, viewOf } from "../arrow/index.ts";
import { KernelError } from "../errors/index.ts";

type Indices = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array;

function indicesOf(vector: Vector, type: IntType): Indices {
  const bytes = vector.buffers[1] ?? new Uint8Array(0);
  const { offset, length } = vector;
  switch (type.bits) {
    case 8:
      return type.signed ? viewOf(Int8Array, bytes, offset, length) : viewOf(Uint8Array, bytes, offset, length);
    case 16:
      return type.signed ? viewOf(Int16Array, bytes, offset, length) : viewOf(Uint16Array, bytes, offset, length);
    case 32:
      return type.signed ? viewOf(Int32Array, bytes, offset, length) : viewOf(Uint32Array, bytes, offset, length);
    case 64:
      // No dictionary has 2^32 values. The check below refuses an index whose low half is wrong.
      return Uint32Array.from(viewOf(BigInt64Array, bytes, offset, length), Number);
  }
}

export function takeVector(vector: Vector, values: Vector): Vector {
  if (vector.type.kind !== "dictionary") throw new KernelError("Only a dictionary column has indices.", "Internal");
  const { length } = vector;
  const indices = indicesOf(vector, vector.type.index);
  const rows = new Int32Array(length);
  const validity = new Uint8Array((length + 7) >>> 3);
  const present = vector.nullCount === 0 ? null : (vector.buffers[0] ?? null);
  const known = values.nullCount === 0 ? null : (values.buffers[0] ?? null);
  let nullCount = 0;
  for (let row = 0; row < length; row++) {
    const index = indices[row] ?? 0;
    const there = present === null || bitAt(present, vector.offset + row);
    if (there && (index < 0 || index >= values.length)) {
      throw new KernelError(`Index ${index} of a dictionary of ${values.length} values: the data is damaged.`, "Arrow");
    }
    if (there && (known === null || bitAt(known, values.offset + index))) {
      rows[row] = values.offset + index;
      validity[row >>> 3] = (validity[row >>> 3] ?? 0) | (1 << (row & 7));
    } else {
      rows[row] = -1;
      nullCount += 1;
    }
  }
  const buffers = [nullCount === 0 ? null : validity, ...gather(values, rows)];
  return { type: values.type, length, nullCount, offset: 0, buffers, children: [], dictionary: null };
}

/** The data buffers of these rows of a vector; −1 is null. */
function gather(values: Vector, rows: Int32Array): Uint8Array[] {
  const layout = layoutOf(values.type);
  const first = values.buffers[1] ?? new Uint8Array(0);
  switch (layout.kind) {
    case "fixed":
      return [gatherFixed(first, rows, layout.width)];
    case "bits": {
      const bits = new Uint8Array((rows.length + 7) >>> 3);
      for (const [row, from] of rows.entries()) {
        if (from !== -1 && bitAt(first, from)) bits[row >>> 3] = (bits[row >>> 3] ?? 0) | (1 << (row & 7));
      }
      return [bits];
    }
    case "bytes":
      return gatherBytes(first, values.buffers[2] ?? new Uint8Array(0), rows, layout.large);
    default:
      throw unsupported(values.type);
  }
}

function unsupported(type: DataType): KernelError {
  return new KernelError(
    `A dictionary of ${type.kind} values cannot be handed to the kernel. Decode the column first.`,
    "Not implemented",
  );
}

function gatherFixed(data: Uint8Array, rows: Int32Array, width: number): Uint8Array {
  const result = new Uint8Array(rows.length * width);
  for (let row = 0; row < rows.length; row++) {
    const from = (rows[row] ?? -1) * width;
    for (let byte = 0; byte < width && from >= 0; byte++) result[row * width + byte] = data[from + byte] ?? 0;
  }
  return result;
}

function gatherBytes(offsetBytes: Uint8Array, data: Uint8Array, rows: Int32Array, large: boolean): Uint8Array[] {
  const stride = large ? 2 : 1;
  const offsets = viewOf(Uint32Array, offsetBytes, 0, offsetBytes.byteLength >>> 2);
  const start = (from: number) => offsets[from * stride] ?? 0;
  const ends = new Uint32Array((rows.length + 1) * stride);
  let total = 0;
  for (let row = 0; row < rows.length; row++) {
    const from = rows[row] ?? -1;
    if (from !== -1) total += start(from + 1) - start(from);
    ends[(row + 1) * stride] = total;
  }
  if (total >= 2 ** 31 && !large) {
    throw new KernelError(`A text column decodes to ${total} bytes; a block may hold 2 GiB of it.`, "Out of Range");
  }
  const result = new Uint8Array(total);
  for (let row = 0; row < rows.length; row++) {
    const from = rows[row] ?? -1;
    if (from !== -1) result.set(data.subarray(start(from), start(from + 1)), ends[row * stride] ?? 0);
  }
  return [new Uint8Array(ends.buffer), result];
}
