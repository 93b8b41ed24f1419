/** Text functions. Positions count from 1, characters are Unicode code points, patterns are those of RE2. */
import type { Operand, RefsOf, Unnamed } from "./core.ts";
import type { Expr } from "./expr.ts";
import { OperatorMethods } from "./operators.ts";

type Result<T, Refs extends string, O = never> = Expr<T, Refs | RefsOf<O>, Unnamed>;

export abstract class StringMethods<T, Refs extends string, Name extends string | Unnamed> extends OperatorMethods<
  T,
  Refs,
  Name
> {
  upper(): Result<string, Refs> {
    return this.call("upper");
  }
  lower(): Result<string, Refs> {
    return this.call("lower");
  }
  /** The number of characters of a text, or of items of a list. */
  length(): Result<number, Refs> {
    return this.call("length");
  }
  /** The number of bytes of a binary value. */
  byteLength(): Result<number, Refs> {
    return this.call("byteLength");
  }
  /** Removes spaces, or any of the given characters, at both ends. */
  trim(characters?: string): Result<string, Refs> {
    return characters === undefined ? this.call("trim") : this.call("trim", characters);
  }
  trimStart(characters?: string): Result<string, Refs> {
    return characters === undefined ? this.call("trimStart") : this.call("trimStart", characters);
  }
  trimEnd(characters?: string): Result<string, Refs> {
    return characters === undefined ? this.call("trimEnd") : this.call("trimEnd", characters);
  }
  contains<O extends Operand>(text: O): Result<boolean, Refs, O> {
    return this.call("contains", text);
  }
  startsWith<O extends Operand>(text: O): Result<boolean, Refs, O> {
    return this.call("startsWith", text);
  }
  endsWith<O extends Operand>(text: O): Result<boolean, Refs, O> {
    return this.call("endsWith", text);
  }
  /** `%` stands for any text, `_` for one character. */
  like(pattern: string): Result<boolean, Refs> {
    return this.call("like", pattern);
  }
  /** Like `like`, ignoring case. */
  ilike(pattern: string): Result<boolean, Refs> {
    return this.call("ilike", pattern);
  }
  /** Replaces every occurrence. */
  replace<A extends Operand, B extends Operand>(text: A, by: B): Result<string, Refs, A | B> {
    return this.call("replace", text, by);
  }
  /** From `start` (the first character is 1), `length` characters or the rest of the text. */
  substring(start: number, length?: number): Result<string, Refs> {
    return length === undefined ? this.call("substring", start) : this.call("substring", start, length);
  }
  left(characters: number): Result<string, Refs> {
    return this.call("left", characters);
  }
  right(characters: number): Result<string, Refs> {
    return this.call("right", characters);
  }
  split(separator: string): Result<string[], Refs> {
    return this.call("split", separator);
  }
  concat<const O extends readonly Operand[]>(...others: O): Result<string, Refs, O[number]> {
    return this.call("concat", ...others);
  }
  repeat(times: number): Result<string, Refs> {
    return this.call("repeat", times);
  }
  reverse(): Result<string, Refs> {
    return this.call("reverse");
  }
  padStart(length: number, by = " "): Result<string, Refs> {
    return this.call("padStart", length, by);
  }
  padEnd(length: number, by = " "): Result<string, Refs> {
    return this.call("padEnd", length, by);
  }
  /** Where the text occurs first, from 1; 0 if it does not occur. */
  position<O extends Operand>(text: O): Result<number, Refs, O> {
    return this.call("position", text);
  }
  /** Whether the pattern matches anywhere. Options: "i" ignores case, "s" lets a dot match newlines, … */
  regexpMatches(pattern: string, options = ""): Result<boolean, Refs> {
    return options === "" ? this.call("regexpMatches", pattern) : this.call("regexpMatches", pattern, options);
  }
  /** The match, or one of its groups; the empty text if nothing matches. */
  regexpExtract(pattern: string, group = 0): Result<string, Refs> {
    return this.call("regexpExtract", pattern, group);
  }
  regexpExtractAll(pattern: string, group = 0): Result<string[], Refs> {
    return this.call("regexpExtractAll", pattern, group);
  }
  /** Options: "g" replaces every match, "i" ignores case. */
  regexpReplace(pattern: string, by: string, options = ""): Result<string, Refs> {
    return options === "" ? this.call("regexpReplace", pattern, by) : this.call("regexpReplace", pattern, by, options);
  }
  md5(): Result<string, Refs> {
    return this.call("md5");
  }
  sha256(): Result<string, Refs> {
    return this.call("sha256");
  }
  /** The value at a JSON path (`$.a.b`), as text. */
  jsonText(path: string): Result<string | null, Refs> {
    return this.call("jsonExtractText", path);
  }
}
