/**
 * Code that checks one field: whether it is written as values of its type are, and ends where a field must end. AT is
 * where the field begins, and then where the next one begins. The code returns from its function when in doubt.
 */
import type { FieldProof } from "../../protocol/index.ts";
import {
  add,
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

/** Locals: END is the end of the bytes to prove. Further numbers from FREE on; BYTES is the only vector. */
export const [END, AT, FROM, LENGTH, BITS, MONTH, DAY, YEAR, FREE] = [1, 2, 3, 4, 5, 6, 7, 8, 9] as const;
/** How many numbers a function has from FREE on. */
export const FREE_NUMBERS = 12;
const BYTES = FREE + FREE_NUMBERS;
export const NUMBERS = BYTES - 1;
export const VECTORS = 1;

const NOUGHT = 48;
const LINE_FEED = 10;
const RETURN = 13;

const at = get(AT);
export const give = giveBack(constant(0));
const doubtIf = (condition: Code) => when(condition, [give]);
const isAt = (offset: number, byte: number) => equal(byteAt(at, offset), constant(byte));
const move = (bytes: Code) => set(AT, add(at, bytes));

interface MarkBytes {
  readonly delimiter: number;
  readonly quote: number | null;
}

/** A field and what must come after it: the delimiter, or the end of the line. */
export function endedField(field: FieldProof, marks: MarkBytes, isLast: boolean): Code {
  return [...fieldCode(field, marks, isLast), ...(isLast ? lineEnd : ending(marks))];
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
