/**
 * Proves that the kernel has nothing to round or to cut in the records of a CSV file, because the kernel does both
 * silently when a text does not fit its column. Every field of a typed column must be written as values of the type
 * are, and every record must have all of its fields. The proof only accepts what is certain; anything else (a quoted
 * number, an exponent, a line too many) is left to slower code that looks closer. It is compiled to WebAssembly for
 * each list of fields, because it may take only a small part of the time in which the kernel reads the same bytes: it
 * looks at 16 bytes in one step, and at several records in turn, because within a record each step waits for the
 * previous one.
 */
import type { RecordProof } from "../../protocol/index.ts";
import {
  assembled,
  both,
  type Code,
  get,
  leave,
  less,
  loop,
  numberAt,
  type Run,
  set,
  store,
  when,
} from "./assembler.ts";
import { AT, END, endedField, FREE, FREE_NUMBERS, give, NUMBERS, VECTORS } from "./fields.ts";

/** As many bytes are proved at a time: they stay in the processor's cache. No record that is proved has more. */
export const LONGEST_RECORD = 2 ** 18;
/** Behind them: what is looked at beside a field's own bytes, and the lanes. */
const MARGIN = 2 ** 16;
/** How much of the margin is read at most: less than the longest typed field plus 16 bytes. */
const BEHIND = 64;
/**
 * A lane is a part of the bytes whose records are proved beside those of the other lanes: where its next record begins,
 * and where the lane ends. Both are numbers of 4 bytes, lane after lane, from this address on.
 */
const LANES_AT = LONGEST_RECORD + MARGIN / 2;
const LANE_BYTES = 8;
const MOST_LANES = FREE_NUMBERS / 2;
/** Each lane has its own copy of the code: with many fields, compiling more copies costs more than they save. */
const MOST_FIELD_COPIES = 64;
/** Fewer bytes are proved in one lane. */
const WORTH_LANES = 4096;
const LINE_FEED = 10;

export class RecordProver {
  /** The bytes to prove go here; the first one begins a record. */
  readonly room: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #lanes: Int32Array;
  readonly #one: Run;
  readonly #side: Run;

  constructor(proof: RecordProof) {
    const lanes = Math.max(1, Math.min(MOST_LANES, Math.floor(MOST_FIELD_COPIES / proof.fields.length)));
    const { run, bytes } = assembled({
      functions: { one: recordsCode(proof, 1), side: recordsCode(proof, lanes) },
      numbers: NUMBERS,
      vectors: VECTORS,
      bytes: LONGEST_RECORD + MARGIN,
    });
    this.room = bytes.subarray(0, LONGEST_RECORD);
    this.#bytes = bytes;
    this.#lanes = new Int32Array(bytes.buffer, LANES_AT, (lanes * LANE_BYTES) / Int32Array.BYTES_PER_ELEMENT);
    this.#one = run.one;
    this.#side = run.side;
  }

  /** How many of the first `length` bytes in the room are proved records: up to one that is in doubt or cut off. */
  proved(length: number): number {
    // No field contains a zero byte, so bytes of an earlier call cannot become part of a proof.
    this.#bytes.fill(0, length, length + BEHIND);
    this.#cut(length);
    this.#side(LANES_AT);
    for (let lane = 0; lane < this.#lanes.length; lane += 2) {
      this.#one(LANES_AT + lane * Int32Array.BYTES_PER_ELEMENT);
      const [at = 0, end = 0] = this.#lanes.subarray(lane, lane + 2);
      if (at === end) continue;
      // In doubt, or the next lane begins inside of a quoted field.
      return this.#provedFrom(at, length);
    }
    return length;
  }

  #provedFrom(at: number, length: number): number {
    this.#lanes.set([at, length]);
    this.#one(LANES_AT);
    return this.#lanes[0] ?? at;
  }

  /** Lanes of about equal size that begin after line ends. The last ones are empty if the bytes are few. */
  #cut(length: number): void {
    const count = this.#lanes.length / 2;
    let start = 0;
    for (let lane = 0; lane < count; lane++) {
      const wanted = length < WORTH_LANES ? length : Math.floor((length * (lane + 1)) / count);
      const lineEnd = wanted >= length ? -1 : this.room.subarray(0, length).indexOf(LINE_FEED, wanted);
      const end = lineEnd < 0 ? length : Math.max(start, lineEnd + 1);
      this.#lanes.set([start, end], 2 * lane);
      start = end;
    }
  }
}

/** Whether single bytes are enough to tell these marks apart. */
export function isProvable({ delimiter, quote, fields }: RecordProof): boolean {
  const isByte = (mark: string) => mark.length === 1 && mark >= " " && mark < "\x7f" && !/[-.0-9:T]/.test(mark);
  return (isByte(delimiter) || delimiter === "\t") && (quote === "" || isByte(quote)) && fields.length > 1;
}

const LANES = 0;

/**
 * Proves a record of each lane in turn, field by field, until one lane is at its end or in doubt. Leaves where each
 * lane's next record begins: if one is in doubt, where the records begin that were looked at together with it.
 */
function recordsCode({ delimiter, quote, fields }: RecordProof, count: number): Code {
  const marks = { delimiter: delimiter.charCodeAt(0), quote: quote === "" ? null : quote.charCodeAt(0) };
  const lanes = Array.from({ length: count }, (_, i) => {
    return { at: FREE + 2 * i, end: FREE + 2 * i + 1, place: LANE_BYTES * i };
  });
  const lanesAt = get(LANES);
  const begin = lanes.flatMap(({ at, end, place }) => [
    ...set(at, numberAt(lanesAt, place)),
    ...set(end, numberAt(lanesAt, place + 4)),
  ]);
  const note = lanes.flatMap(({ at, place }) => store(lanesAt, place, get(at)));
  const areInside = lanes.map(({ at, end }) => less(get(at), get(end))).reduce(both);
  const checks = fields.flatMap((field, i) => {
    const check = endedField(field, marks, i === fields.length - 1);
    return lanes.map(({ at, end }) => [...set(AT, get(at)), ...set(END, get(end)), ...check, ...set(at, get(AT))]);
  });
  return [...begin, ...loop(note, when(areInside, [...checks, leave(1)])), ...give];
}
