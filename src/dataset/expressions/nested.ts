/** Functions on lists, structs and maps. */
import { call } from "../../plan/index.ts";
import type { Operand, RefsOf, Unnamed } from "./core.ts";
import { DateMethods } from "./dates.ts";
import type { Expr } from "./expr.ts";
import { type VectorOperand, vectorExpression } from "./vectors.ts";

type Result<T, Refs extends string, O = never> = Expr<T, Refs | RefsOf<O>, Unnamed>;

export abstract class NestedMethods<T, Refs extends string, Name extends string | Unnamed> extends DateMethods<
  T,
  Refs,
  Name
> {
  listLength(): Result<number, Refs> {
    return this.call("listLength");
  }
  /** Counted from 0 as in JavaScript; a negative index counts from the end. Null if there is no such item. */
  listGet<V = unknown>(index: number): Result<V, Refs> {
    return this.call("listGet", index < 0 ? index : index + 1);
  }
  listContains<O extends Operand>(value: O): Result<boolean, Refs, O> {
    return this.call("listContains", value);
  }
  /** Items from `start` to before `end`, like `Array.slice`: counted from 0; negative positions count from the end. */
  listSlice(start: number, end = Number.MAX_SAFE_INTEGER): Result<unknown[], Refs> {
    return this.call("listSlice", start < 0 ? start : start + 1, end < 0 ? end - 1 : end);
  }
  listConcat<O extends Operand>(other: O): Result<unknown[], Refs, O> {
    return this.call("listConcat", other);
  }
  listSort(): Result<unknown[], Refs> {
    return this.call("listSort");
  }
  listDistinct(): Result<unknown[], Refs> {
    return this.call("listDistinct");
  }
  listReverse(): Result<unknown[], Refs> {
    return this.call("listReverse");
  }
  listSum(): Result<number, Refs> {
    return this.call("listSum");
  }
  listMean(): Result<number, Refs> {
    return this.call("listMean");
  }
  listMin(): Result<unknown, Refs> {
    return this.call("listMin");
  }
  listMax(): Result<unknown, Refs> {
    return this.call("listMax");
  }
  listJoin(separator: string): Result<string, Refs> {
    return this.call("listJoin", separator);
  }
  /**
   * Cosine of the angle between two vectors: 1 for the same direction, 0 for a right angle, -1 for opposite directions.
   */
  cosineSimilarity<O extends VectorOperand>(other: O): Result<number, Refs, O> {
    return this.#compared("cosineSimilarity", other);
  }
  /** The distance of two vectors as points: the root of the sum of the squared differences. */
  l2Distance<O extends VectorOperand>(other: O): Result<number, Refs, O> {
    return this.#compared("l2Distance", other);
  }
  /** The sum of the products of two vectors, item by item. */
  dot<O extends VectorOperand>(other: O): Result<number, Refs, O> {
    return this.#compared("dot", other);
  }
  #compared<O extends VectorOperand>(
    name: "cosineSimilarity" | "l2Distance" | "dot",
    other: O,
  ): Result<number, Refs, O> {
    return this.derive(call(name, this.expression, vectorExpression(name, other)));
  }
  /** The value of a field of a struct. */
  field<V = unknown>(name: string): Result<V, Refs> {
    return this.call("field", name);
  }
  /** The value of a key of a map; null if the map lacks the key. */
  mapGet<O extends Operand>(key: O): Result<unknown, Refs, O> {
    return this.call("mapGet", key);
  }
  mapKeys(): Result<unknown[], Refs> {
    return this.call("mapKeys");
  }
  mapValues(): Result<unknown[], Refs> {
    return this.call("mapValues");
  }
}
