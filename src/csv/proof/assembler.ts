/**
 * The part of WebAssembly's binary format that functions over one memory need: expressions as the bytes of their code.
 * Knows nothing of CSV.
 */

/** Code that leaves one value, or none if it is a statement. */
export type Code = readonly number[];

const BLOCK = 0x02;
const LOOP = 0x03;
const IF = 0x04;
const ELSE = 0x05;
const END = 0x0b;
const NO_RESULT = 0x40;
const I32 = 0x7f;
const V128 = 0x7b;
const FUNCTION = 0x60;
const SIMD = 0xfd;
/** Alignment of a load that may begin at any byte. */
const UNALIGNED = 0;
const PAGE = 2 ** 16;

const unary = (opcode: Code) => (value: Code) => [...value, ...opcode];
const binary = (opcode: Code) => (left: Code, right: Code) => [...left, ...right, ...opcode];

export const constant = (value: number): Code => [0x41, ...signed(value)];
export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...unsigned(local)];
export const isZero = unary([0x45]);
export const trailingZeros = unary([0x68]);
export const equal = binary([0x46]);
export const differs = binary([0x47]);
/** Compares as unsigned numbers. */
export const less = binary([0x49]);
export const more = binary([0x4b]);
export const add = binary([0x6a]);
export const subtract = binary([0x6b]);
export const multiply = binary([0x6c]);
export const remainder = binary([0x70]);
export const both = binary([0x71]);
export const either = binary([0x72]);
export const shiftedRight = binary([0x76]);
/** The number at an address. */
export const numberAt = (address: Code, offset: number): Code => [...address, 0x28, UNALIGNED, ...unsigned(offset)];
export const store = (address: Code, offset: number, value: Code): Code => [
  ...address,
  ...value,
  0x36,
  UNALIGNED,
  ...unsigned(offset),
];
/** The byte at an address, or the 16 bytes from it on. */
export const byteAt = (address: Code, offset = 0): Code => [...address, 0x2d, UNALIGNED, ...unsigned(offset)];
export const bytesAt = (address: Code, offset = 0): Code => [...address, SIMD, 0x00, UNALIGNED, ...unsigned(offset)];
/** A vector of 16 equal bytes. */
export const sixteen = (byte: number): Code => [...constant(byte), SIMD, 0x0f];
export const bytesEqual = binary([SIMD, 0x23]);
export const bytesLess = binary([SIMD, 0x26]);
export const bytesEither = binary([SIMD, 0x50]);
export const bytesMinus = binary([SIMD, ...unsigned(0x71)]);
/** One bit for each of the 16 bytes, set if the byte is true. */
export const bitOfEach = unary([SIMD, ...unsigned(0x64)]);

export const block = (...body: readonly Code[]): Code => [BLOCK, NO_RESULT, ...body.flat(), END];
export const loop = (...body: readonly Code[]): Code => [LOOP, NO_RESULT, ...body.flat(), END];
export const when = (condition: Code, then: readonly Code[], otherwise: readonly Code[] = []): Code => [
  ...condition,
  IF,
  NO_RESULT,
  ...then.flat(),
  ...(otherwise.length === 0 ? [] : [ELSE, ...otherwise.flat()]),
  END,
];
/** Leaves this many blocks, or goes to the beginning of a loop; 0 is the innermost. */
export const leave = (depth: number): Code => [0x0c, ...unsigned(depth)];
export const leaveIf = (depth: number, condition: Code): Code => [...condition, 0x0d, ...unsigned(depth)];
export const giveBack = (value: Code): Code => [...value, 0x0f];

/** Only the part used here is declared: TypeScript's own declarations come with those of a browser. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new <Name extends string>(
    module: object,
  ) => { readonly exports: Readonly<Record<Name, Run>> & { readonly memory: Memory } };
};
export type Run = (parameter: number) => number;
interface Memory {
  readonly buffer: ArrayBuffer;
}

/** Functions from a number to a number, over bytes. Local 0 is the parameter; numbers follow, then vectors. */
interface Program<Name extends string> {
  readonly functions: Readonly<Record<Name, Code>>;
  /** Locals of each function. */
  readonly numbers: number;
  readonly vectors: number;
  /** Whole pages of 64 KiB. */
  readonly bytes: number;
}

interface Assembled<Name extends string> {
  readonly run: Readonly<Record<Name, Run>>;
  readonly bytes: Uint8Array;
}

export function assembled<Name extends string>(program: Program<Name>): Assembled<Name> {
  const run = new WebAssembly.Instance<Name>(new WebAssembly.Module(moduleOf(program))).exports;
  return { run, bytes: new Uint8Array(run.memory.buffer) };
}

function moduleOf({ functions, numbers, vectors, bytes }: Program<string>): Uint8Array {
  const names = Object.keys(functions);
  const locals = [2, ...unsigned(numbers), I32, ...unsigned(vectors), V128];
  const codes = Object.values(functions).map((body) => [...locals, ...body, END]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, FUNCTION, 1, I32, 1, I32]),
    ...section(3, [names.length, ...names.map(() => 0)]),
    ...section(5, [1, 0, ...unsigned(bytes / PAGE)]),
    ...section(7, [names.length + 1, ...names.flatMap((each, i) => [...name(each), 0, i]), ...name("memory"), 2, 0]),
    ...section(10, [names.length, ...codes.flatMap((code) => [...unsigned(code.length), ...code])]),
  ]);
}

const section = (id: number, content: Code): Code => [id, ...unsigned(content.length), ...content];
const name = (text: string): Code => [text.length, ...Buffer.from(text)];

/** LEB128: seven bits a byte, the lowest first. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, ...signed(value >> 7)];
}
