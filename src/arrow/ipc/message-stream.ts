/** Walks the encapsulated messages of an IPC stream. Only the framing is parsed here, not the headers. */
import { ValueError } from "../../errors/index.ts";
import { FlatBufferTable } from "./flatbuffer-reader.ts";

export interface Message {
  readonly headerType: number;
  readonly header: FlatBufferTable;
  readonly metadata: Uint8Array;
  readonly body: Uint8Array;
  /** Where the next message starts. */
  readonly next: number;
}

/** The message at `at`, or null at the end of the stream. */
export function messageAt(bytes: Uint8Array, at: number): Message | null {
  if (at + 4 > bytes.byteLength) {
    if (at === bytes.byteLength) return null;
    throw cut(at, bytes);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let from = at + 4;
  let length = view.getUint32(at, true);
  if (length === 0xffffffff) {
    if (at + 8 > bytes.byteLength) throw cut(at, bytes);
    length = view.getUint32(at + 4, true);
    from = at + 8;
  }
  if (length === 0) return null;
  if (from + length > bytes.byteLength) throw cut(at, bytes);
  const metadata = bytes.subarray(from, from + length);
  const message = FlatBufferTable.root(metadata);
  const header = message.table(2);
  if (header === null) throw new ValueError(`Not Arrow data: the message at byte ${at} has no header.`);
  const start = from + length;
  const next = start + message.int64(3, 0);
  if (next > bytes.byteLength || next < start) throw cut(at, bytes);
  return { headerType: message.int8(1, 0), header, metadata, body: bytes.subarray(start, next), next };
}

function cut(at: number, bytes: Uint8Array): ValueError {
  return new ValueError(
    `Not Arrow data, or cut short: the message at byte ${at} goes past the end (${bytes.byteLength} bytes).`,
  );
}
