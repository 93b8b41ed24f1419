/** Bytes that V8 takes for values, on 64 bits without pointer compression (Node's builds). */

/** A pointer, a small integer, or a number in an array of numbers. */
export const SLOT = 8;
/** Hidden class, properties, elements. */
export const OBJECT = 24;
/** A number that is not a small integer, outside an array of numbers. */
export const BOXED_NUMBER = 16;
export const ARRAY = 32 + 16;
export const FUNCTION = 64;
export const SYMBOL = 32;
export const DATE = 96;
export const REGEXP = 72;
/** A view, and the object of its buffer. */
export const VIEW = 104;
export const BUFFER = 112;
/** Hash tables grow by doubling: on average a quarter of them is empty. */
export const MAP = 56;
export const MAP_ENTRY = 36;
export const SET = 56;
export const SET_ENTRY = 26;
/** From this many properties on, an object has a hash table of its own. */
export const DICTIONARY = 128;
export const DICTIONARY_ENTRY = 48;

const STRING = 16;
const BIGINT = 16;
const NOT_LATIN1 = /[\u0100-\uffff]/;

/** One byte per character, or two if any character needs it. */
export function sizeOfText(text: string): number {
  const width = NOT_LATIN1.test(text) ? 2 : 1;
  return STRING + padded(text.length * width);
}

export function sizeOfBigint(value: bigint): number {
  const bits = (value < 0n ? -value : value).toString(16).length * 4;
  return BIGINT + Math.ceil(bits / 64) * 8;
}

/** V8's small integers have 32 bits here. */
export function isSmall(value: number): boolean {
  return (value | 0) === value && !Object.is(value, -0);
}

function padded(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}
