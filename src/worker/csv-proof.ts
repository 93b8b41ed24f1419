/**
 * Whether everything that a task reads of CSV files is written in the form of its columns' types, so that the kernel
 * may convert the values while it reads. For this the files are read once beforehand. That takes a tenth of the
 * kernel's own time, which is less than a closer look at every text would take.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { RecordProver } from "../csv/index.ts";
import type { CsvProof, CsvStretch, RecordProof } from "../protocol/index.ts";

const LINE_FEED = 10;
const RETURN = 13;

/** The last prover: all tasks of a read have the same fields, and its code gets faster the longer it runs. */
let known: { readonly key: string; readonly prover: RecordProver } | null = null;

/** `turn` is called between pieces of a quarter of a megabyte. */
export async function isProved(
  { stretches, records }: CsvProof,
  turn: () => void | Promise<void> = () => {},
): Promise<boolean> {
  const key = JSON.stringify(records);
  const prover = known?.key === key ? known.prover : new RecordProver(records);
  // A prover's room can be used by one proof at a time.
  known = null;
  for (const stretch of stretches) {
    const file = opened(stretch.path);
    if (file === null) return false;
    try {
      if (!(await proves(prover, file, stretch, records, turn))) return false;
    } finally {
      closeSync(file);
    }
  }
  known = { key, prover };
  return true;
}

/** Null when the file cannot be opened; the reader that follows reports the error. */
function opened(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch {
    return null;
  }
}

async function proves(
  prover: RecordProver,
  file: number,
  { start, end, header }: CsvStretch,
  records: RecordProof,
  turn: () => void | Promise<void>,
): Promise<boolean> {
  const { room } = prover;
  let at = header ? afterHeader(file, room, start, end, records) : start;
  if (at === null) return false;
  while (at < end) {
    // One byte is reserved for a missing end of the last line.
    const wanted = Math.min(room.length - 1, end - at);
    const bytesRead = readSync(file, room, 0, wanted, at);
    if (bytesRead < wanted) return false;
    const isLast = at + bytesRead === end;
    const isOpen = isLast && room[bytesRead - 1] !== LINE_FEED;
    if (isOpen) room[bytesRead] = LINE_FEED;
    const length = isOpen ? bytesRead + 1 : bytesRead;
    const proved = prover.proved(length);
    if (isLast) return proved === length;
    if (proved === 0) return false;
    at += proved;
    await turn();
  }
  return true;
}

/** Where the first row begins; null where the header is not simply a line. */
function afterHeader(
  file: number,
  room: Uint8Array,
  start: number,
  end: number,
  { quote }: RecordProof,
): number | null {
  const bytesRead = readSync(file, room, 0, Math.min(room.length, end - start), start);
  const lineEnd = room.subarray(0, bytesRead).indexOf(LINE_FEED);
  const line = room.subarray(0, Math.max(0, lineEnd));
  const isSimple =
    (quote === "" || !line.includes(quote.charCodeAt(0))) && [-1, lineEnd - 1].includes(line.indexOf(RETURN));
  return lineEnd > 0 && isSimple ? start + lineEnd + 1 : null;
}
