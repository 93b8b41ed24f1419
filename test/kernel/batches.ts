/** Batches for the kernel's tests: copies of what a query gives, and vectors put together by hand. */
import { concatBatches, planBlock, readBlock, toRows } from "../../src/arrow/index.ts";
import type { DataType, Field, RecordBatch, Row, Vector } from "../../src/arrow/types.ts";
import { type Connection, Kernel } from "../../src/kernel/index.ts";
import { type Allocation, allocate } from "../../src/native/index.ts";

/** Exact values, so that rows can be compared. */
export const EXACT = { int64: "bigint", decimal: "string", timestamp: "bigint" } as const;

export function withKernel<Result>(threads: number, work: (connection: Connection, kernel: Kernel) => Result): Result {
  const kernel = Kernel.open({ threads });
  const done = () => kernel.close();
  try {
    const result = work(kernel.connect(), kernel);
    if (result instanceof Promise) return result.finally(done) as Result;
    done();
    return result;
  } catch (error) {
    done();
    throw error;
  }
}

/** The whole result as one batch in JavaScript's own memory. */
export function collect(connection: Connection, sql: string): RecordBatch {
  const stream = connection.query(sql);
  const parts: RecordBatch[] = [];
  for (let batch = stream.next(); batch !== null; batch = stream.next()) parts.push(concatBatches([batch]));
  stream.close();
  return parts.length === 0 ? { schema: stream.schema, length: 0, columns: [] } : concatBatches(parts);
}

export function rowsOf(connection: Connection, sql: string): Row[] {
  const stream = connection.query(sql);
  const rows: Row[] = [];
  for (let batch = stream.next(); batch !== null; batch = stream.next()) rows.push(...toRows(batch, EXACT));
  stream.close();
  return rows;
}

/** The same batch in native memory, as a block in the arena is. */
export function inNativeMemory(batch: RecordBatch): { readonly batch: RecordBatch; readonly memory: Allocation } {
  const plan = planBlock(batch);
  const memory = allocate(plan.byteLength);
  plan.write(memory.view(0, plan.byteLength));
  return { batch: readBlock(memory.view(0, plan.byteLength)), memory };
}

export function bits(flags: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array((flags.length + 7) >>> 3);
  for (const [index, flag] of flags.entries())
    if (flag) bytes[index >>> 3] = (bytes[index >>> 3] ?? 0) | (1 << (index & 7));
  return bytes;
}

export function bytes(array: ArrayBufferView): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

export function vector(
  type: DataType,
  length: number,
  valid: readonly boolean[] | null,
  data: readonly Uint8Array[],
  more: Partial<Vector> = {},
): Vector {
  const nullCount = valid === null ? 0 : -1;
  const buffers = type.kind === "null" ? [] : [valid === null ? null : bits(valid), ...data];
  return { type, length, nullCount, offset: 0, buffers, children: [], dictionary: null, ...more };
}

export function text(values: readonly (string | null)[], large = false): Vector {
  const encoded = values.map((value) => Buffer.from(value ?? ""));
  const ends = [0];
  for (const part of encoded) ends.push((ends.at(-1) ?? 0) + part.length);
  const offsets = large ? bytes(BigInt64Array.from(ends, BigInt)) : bytes(Int32Array.from(ends));
  const valid = values.map((value) => value !== null);
  return vector({ kind: "utf8", large }, values.length, valid, [offsets, Buffer.concat(encoded)]);
}

export function batchOf(columns: Readonly<Record<string, Vector>>): RecordBatch {
  const names = Object.keys(columns);
  const fields = names.map((name): Field => ({ name, type: columns[name]?.type ?? { kind: "null" }, nullable: true }));
  const all = Object.values(columns);
  return { schema: { fields }, length: all[0]?.length ?? 0, columns: all };
}
