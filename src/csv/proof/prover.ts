/**
 * Proves that the kernel has nothing to round or to cut in the records of a CSV file, because the kernel does both
 * silently when a text does not fit its column. Every field of a typed column must be written as values of the type
 * are, and every record must have all of its fields. The proof only accepts what is certain; anything else (a quoted
 * number, an exponent, a line too many) is left to slower code that looks closer. It is compiled to WebAssembly for
 * each list of fields, because it may take only a small part of the time in which the kernel reads the same bytes: it
 * looks at 16 bytes in one step.
 */
import type { FieldProof, RecordProof } from "../../protocol/index.ts";
import {
  add,
  assembled,
  bitOfEach,
  block,
  both,
  byteAt,
  bytesAt,
  bytesEither,
  bytesEqual,
  bytesLess,
  bytesMinus,
  type Code,
  constant,
  differs,
  either,
  equal,
  get,
  giveBack,
  isZero,
  leave,
  leaveIf,
  less,
  loop,
  more,
  multiply,
  remainder,
  set,
  shiftedRight,
  sixteen,
  subtract,
  trailingZeros,
  when,
} from "./assembler.ts";

/** As many bytes are proved at a time: they stay in the processor's cache. No record that is proved has more. */
export const LONGEST_RECORD = 2 ** 18;
/** Behind them: what is looked at beside a field's own bytes. */
const MARGIN = 2 ** 16;
/** How much of the margin is read at most: less than the longest typed field plus 16 bytes. */
const BEHIND = 64;
const NOUGHT = 48;
const LINE_FEED = 10;
const RETURN = 13;
const [END, AT, ROW, FROM, LENGTH, BITS, MONTH, DAY, YEAR, BYTES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
const NUMBERS = 8;
const VECTORS = 1;

export class RecordProver {
  /** The bytes to prove go here; the first one begins a record. */
  readonly room: Uint8Array;
  readonly #bytes: Uint8Array;
  readonly #run: (end: number) => number;

  constructor(proof: RecordProof) {
    const { run, bytes } = assembled({
      body: recordsCode(proof),
      numbers: NUMBERS,
      vectors: VECTORS,
      bytes: LONGEST_RECORD + MARGIN,
    });
    this.room = bytes.subarray(0, LONGEST_RECORD);
    this.#bytes = bytes;
    this.#run = run;
  }

  /** How many of the first `length` bytes in the room are proved records: up to one that is in doubt or cut off. */
  proved(length: number): number {
    // No field contains a zero byte, so bytes of an earlier call cannot become part of a proof.
    this.#bytes.fill(0, length, length + BEHIND);
    return this.#run(length);
  }
}

/** Whether single bytes are enough to tell these marks apart. */
export function isProvable({ delimiter, quote, fields }: RecordProof): boolean {
  const isByte = (mark: string) => mark.length === 1 && mark >= " " && mark < "\x7f" && !/[-.0-9:T]/.test(mark);
  return (isByte(delimiter) || delimiter === "\t") && (quote === "" || isByte(quote)) && fields.length > 1;
}

const at = get(AT);
const give = giveBack(get(ROW));
const doubtIf = (condition: Code) => when(condition, [give]);
const isAt = (offset: number, byte: number) => equal(byteAt(at, offset), constant(byte));
const move = (bytes: Code) => set(AT, add(at, bytes));

function recordsCode({ delimiter, quote, fields }: RecordProof): Code {
  const marks = { delimiter: delimiter.charCodeAt(0), quote: quote === "" ? null : quote.charCodeAt(0) };
  const last = fields.length - 1;
  const checks = fields.flatMap((field, i) => [
    fieldCode(field, marks, i === last),
    i === last ? lineEnd : ending(marks),
  ]);
  return [...loop(set(ROW, at), when(less(at, get(END)), [...checks, leave(1)])), ...give];
}

interface MarkBytes {
  readonly delimiter: number;
  readonly quote: number | null;
}

const ending = ({ delimiter }: MarkBytes): Code => [
  ...doubtIf(differs(byteAt(at), constant(delimiter))),
  ...move(constant(1)),
];
const lineEnd: Code = [
  ...when(isAt(0, RETURN), [move(constant(1))]),
  ...doubtIf(differs(byteAt(at), constant(LINE_FEED))),
  ...move(constant(1)),
];

function fieldCode(field: FieldProof, marks: MarkBytes, isLast: boolean): Code {
  switch (field.kind) {
    case "any":
      return marks.quote === null ? plain(marks) : when(isAt(0, marks.quote), [quoted(marks.quote)], [plain(marks)]);
    case "whole":
      return whole(field.digits, field.signed);
    case "double":
      return double(field.length);
    default: {
      const empty = isLast ? either(isAt(0, LINE_FEED), isAt(0, RETURN)) : isAt(0, marks.delimiter);
      return when(isZero(empty), [field.kind === "date" ? date : timestamp]);
    }
  }
}

/** To the next mark, inside or after an unquoted field. */
function plain({ delimiter, quote }: MarkBytes): Code {
  const found = [delimiter, LINE_FEED, RETURN, ...(quote === null ? [] : [quote])]
    .map((mark) => bytesEqual(get(BYTES), sixteen(mark)))
    .reduce(bytesEither);
  return block(
    loop(
      set(BYTES, bytesAt(at)),
      set(BITS, bitOfEach(found)),
      when(get(BITS), [move(trailingZeros(get(BITS))), leave(2)]),
      move(constant(16)),
      leaveIf(0, less(at, get(END))),
      give,
    ),
  );
}

/** After the quote that ends a field. */
function quoted(quote: number): Code {
  return [
    ...move(constant(1)),
    ...block(
      loop(
        set(BITS, bitOfEach(bytesEqual(bytesAt(at), sixteen(quote)))),
        when(get(BITS), [
          move(add(trailingZeros(get(BITS)), constant(1))),
          leaveIf(2, differs(byteAt(at), constant(quote))),
          move(constant(1)),
          leave(1),
        ]),
        move(constant(16)),
        leaveIf(0, less(at, get(END))),
        give,
      ),
    ),
  ];
}

/** One bit for each of 16 bytes, set if the byte is a digit. */
const digitBits = (from: Code): Code => bitOfEach(bytesLess(bytesMinus(bytesAt(from), sixteen(NOUGHT)), sixteen(10)));
const digitCount = (from: Code): Code => trailingZeros(subtract(constant(-1), digitBits(from)));
const two = (offset: number): Code =>
  subtract(add(multiply(byteAt(at, offset), constant(10)), byteAt(at, offset + 1)), constant(11 * NOUGHT));

/** FROM is where the digits begin, after a minus. An empty field has none. */
function digitsOf(signed: boolean): Code {
  return [
    ...set(FROM, at),
    ...(signed ? when(isAt(0, 45), [set(FROM, add(at, constant(1)))]) : []),
    ...set(LENGTH, digitCount(get(FROM))),
    ...doubtIf(less(get(LENGTH), subtract(get(FROM), at))),
  ];
}

function whole(digits: number, signed: boolean): Code {
  const isNought = equal(byteAt(get(FROM)), constant(NOUGHT));
  const end = add(get(FROM), get(LENGTH));
  return [
    ...digitsOf(signed),
    ...(digits < 16
      ? []
      : when(equal(get(LENGTH), constant(16)), [
          set(LENGTH, add(constant(16), digitCount(add(get(FROM), constant(16))))),
        ])),
    ...doubtIf(more(get(LENGTH), constant(digits))),
    ...doubtIf(both(isNought, more(subtract(end, at), constant(1)))),
    ...set(AT, end),
  ];
}

function double(length: number): Code {
  const isNought = equal(byteAt(get(FROM)), constant(NOUGHT));
  const end = add(get(FROM), get(LENGTH));
  return [
    ...digitsOf(true),
    ...doubtIf(both(isNought, more(get(LENGTH), constant(1)))),
    // From here on LENGTH is the number of digits after the point.
    ...set(BITS, end),
    ...when(equal(byteAt(get(BITS)), constant(46)), [
      doubtIf(isZero(get(LENGTH))),
      set(LENGTH, digitCount(add(get(BITS), constant(1)))),
      doubtIf(isZero(get(LENGTH))),
      set(BITS, add(add(get(BITS), constant(1)), get(LENGTH))),
    ]),
    ...doubtIf(more(subtract(get(BITS), at), constant(length))),
    ...set(AT, get(BITS)),
  ];
}

/** Bits of the months that have 31 days. */
const LONG_MONTHS = [1, 3, 5, 7, 8, 10, 12].reduce((bits, month) => bits | (1 << month), 0);

const leapDay: Code = [
  ...doubtIf(differs(get(DAY), constant(29))),
  ...set(YEAR, add(multiply(two(0), constant(100)), two(2))),
  ...doubtIf(remainder(get(YEAR), constant(4))),
  ...doubtIf(
    both(isZero(remainder(get(YEAR), constant(100))), differs(remainder(get(YEAR), constant(400)), constant(0))),
  ),
];
/**
 * Checks that a day, whose bytes are digits, is in the calendar. The kernel writes the year 0000 in another way, as one
 * before Christ.
 */
const calendar: Code = [
  ...doubtIf(isAt(0, NOUGHT)),
  ...set(MONTH, two(5)),
  ...set(DAY, two(8)),
  ...doubtIf(more(subtract(get(MONTH), constant(1)), constant(11))),
  ...when(more(subtract(get(DAY), constant(1)), constant(27)), [
    doubtIf(more(subtract(get(DAY), constant(1)), constant(30))),
    when(equal(get(DAY), constant(31)), [
      doubtIf(isZero(both(shiftedRight(constant(LONG_MONTHS), get(MONTH)), constant(1)))),
    ]),
    when(equal(get(MONTH), constant(2)), [leapDay]),
  ]),
];
const hyphens = both(isAt(4, 45), isAt(7, 45));

/** 2024-02-29. */
const date: Code = [
  ...doubtIf(differs(both(digitBits(at), constant(0x3ff)), constant(0b11_0110_1111))),
  ...doubtIf(isZero(hyphens)),
  ...calendar,
  ...move(constant(10)),
];

const upTo = (offset: number, digit: number) =>
  less(subtract(byteAt(at, offset), constant(NOUGHT)), constant(digit + 1));

/** 2024-02-29 23:59:59, with a T or a space, and up to six digits of a second. */
const timestamp: Code = [
  ...doubtIf(differs(digitBits(at), constant(0b1101_1011_0110_1111))),
  ...doubtIf(isZero(both(both(hyphens, either(isAt(10, 32), isAt(10, 84))), both(isAt(13, 58), isAt(16, 58))))),
  ...calendar,
  ...doubtIf(more(two(11), constant(23))),
  ...doubtIf(isZero(both(both(upTo(14, 5), upTo(17, 5)), upTo(18, 9)))),
  ...move(constant(19)),
  ...when(isAt(0, 46), [
    set(LENGTH, digitCount(add(at, constant(1)))),
    doubtIf(more(subtract(get(LENGTH), constant(1)), constant(5))),
    move(add(get(LENGTH), constant(1))),
  ]),
];
