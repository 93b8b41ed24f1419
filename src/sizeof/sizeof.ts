/**
 * Approximate bytes of a JavaScript value with everything that it reaches. An object counts once, and so does memory
 * under several views, so cycles end. Getters are not called. In a collection of more than 10,000 items, 1,000 are
 * measured, one from each of 1,000 equal stretches. Objects that all items share are met in the first 500; only what
 * the other 500 add is scaled up, so a table that a million rows refer to counts once.
 */

import { isAnyArrayBuffer, isDate, isMap, isRegExp, isSet } from "../realm/index.ts";
import {
  ARRAY,
  BOXED_NUMBER,
  BUFFER,
  DATE,
  DICTIONARY,
  DICTIONARY_ENTRY,
  FUNCTION,
  isSmall,
  MAP,
  MAP_ENTRY,
  OBJECT,
  REGEXP,
  SET,
  SET_ENTRY,
  SLOT,
  SYMBOL,
  sizeOfBigint,
  sizeOfText,
  VIEW,
} from "./layout.ts";
import { registeredSize } from "./registry.ts";

const MEASURED_WHOLE = 10_000;
const SAMPLE = 1_000;

export function sizeof(value: unknown): number {
  const bytes = new Measurement().of(value);
  // A number, a boolean or null by itself takes the slot that holds it.
  return Math.round(bytes === 0 ? SLOT : bytes);
}

class Measurement {
  readonly #seen = new Set<object>();
  /** A list instead of recursion: values may be nested to any depth. */
  #waiting: unknown[] = [];

  /** The bytes of the value beside the slot that holds it. */
  of(value: unknown): number {
    const outer = this.#waiting;
    this.#waiting = [];
    let bytes = this.#alone(value);
    while (this.#waiting.length > 0) bytes += this.#alone(this.#waiting.pop());
    this.#waiting = outer;
    return bytes;
  }

  /** Without the values that it refers to, which wait in the list. */
  #alone(value: unknown): number {
    switch (typeof value) {
      case "string":
        return sizeOfText(value);
      case "number":
        return isSmall(value) ? 0 : BOXED_NUMBER;
      case "bigint":
        return sizeOfBigint(value);
      case "symbol":
        return SYMBOL;
      case "function":
        return this.#isNew(value) ? (registeredSize(value) ?? FUNCTION) : 0;
      case "object":
        return value === null || !this.#isNew(value) ? 0 : (registeredSize(value) ?? this.#object(value));
      default:
        return 0;
    }
  }

  #object(value: object): number {
    if (Array.isArray(value)) return ARRAY + this.#array(value);
    if (ArrayBuffer.isView(value)) return VIEW + this.#buffer(value.buffer);
    if (isAnyArrayBuffer(value)) {
      this.#seen.delete(value);
      return this.#buffer(value);
    }
    return this.#builtin(value) + this.#fields(value);
  }

  /** The internal memory of built-in objects, which is not in their fields. */
  #builtin(value: object): number {
    if (isMap(value)) {
      const keys = this.#items(value.size, value.keys());
      return MAP + value.size * MAP_ENTRY + keys + this.#items(value.size, value.values());
    }
    if (isSet(value)) return SET + value.size * SET_ENTRY + this.#items(value.size, value.values());
    if (isDate(value)) return DATE;
    if (isRegExp(value)) return REGEXP + sizeOfText(value.source);
    return OBJECT;
  }

  #buffer(buffer: ArrayBufferLike): number {
    return this.#isNew(buffer) ? BUFFER + buffer.byteLength : 0;
  }

  #array(array: readonly unknown[]): number {
    const slots = array.length * SLOT;
    // An array with only numbers holds them itself.
    if (sample(array).every((item) => typeof item === "number")) return slots;
    return slots + this.#items(array.length, array.values());
  }

  #items(count: number, items: Iterable<unknown>): number {
    if (count <= MEASURED_WHOLE) {
      for (const item of items) this.#waiting.push(item);
      return 0;
    }
    let at = 0;
    let taken = 0;
    let first = 0;
    let second = 0;
    for (const item of items) {
      if (at === placeOf(taken, count)) {
        if (taken < SAMPLE / 2) first += this.of(item);
        else second += this.of(item);
        taken += 1;
      }
      at += 1;
    }
    return first + (second / (SAMPLE / 2)) * (count - SAMPLE / 2);
  }

  #fields(value: object): number {
    const keys = Reflect.ownKeys(value);
    let bytes = keys.length * (keys.length > DICTIONARY ? DICTIONARY_ENTRY : SLOT);
    // Objects of one shape share their names; a hash table has its own.
    if (keys.length > DICTIONARY) bytes += this.#items(keys.length, keys);
    return bytes + this.#items(keys.length, dataOf(value, keys));
  }

  #isNew(value: object): boolean {
    if (this.#seen.has(value)) return false;
    this.#seen.add(value);
    return true;
  }
}

/** The values of the fields; nothing for getters. */
function* dataOf(value: object, keys: readonly PropertyKey[]): Iterable<unknown> {
  for (const key of keys) yield Reflect.getOwnPropertyDescriptor(value, key)?.value;
}

/**
 * The index of the i-th measured item: a varying place in its stretch, so that patterns in the data do not distort the
 * result.
 */
function placeOf(i: number, count: number): number {
  const stretch = count / SAMPLE;
  const within = (i * 0.6180339887498949) % 1;
  return Math.floor((i + within) * stretch);
}

function sample(array: readonly unknown[]): readonly unknown[] {
  if (array.length <= MEASURED_WHOLE) return array;
  return Array.from({ length: SAMPLE }, (_, i) => array[placeOf(i, array.length)]);
}
