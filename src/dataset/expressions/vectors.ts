/** The other vector of a distance function: an expression, or numbers of the program. */
import { OptionError } from "../../errors/index.ts";
import { cast, type Expression, literal } from "../../plan/index.ts";
import { isTypedArray, typedArrayName } from "../../realm/index.ts";
import { describe } from "../options.ts";
import { type AnyExpr, ExprCore } from "./core.ts";

/** Lists of numbers, of fixed size or not. A `Float32Array` and a column of FLOAT are computed as FLOAT. */
export type VectorOperand = AnyExpr | readonly number[] | Float32Array | Float64Array;

/**
 * Numbers as one text that the kernel parses into a list: a thousand literals would take it much longer. Null stays
 * null, because there is no vector to compare with.
 */
export function vectorExpression(operator: string, vector: unknown): Expression {
  if (vector instanceof ExprCore) return vector.expression;
  if (vector === null || vector === undefined) return literal(null);
  if (!isNumbers(vector)) {
    throw new OptionError(
      `${operator}: the other vector is ${describe(vector)}; it must be an array of numbers, a Float32Array, a Float64Array or an expression.`,
    );
  }
  const isSingle = isTypedArray(vector) && typedArrayName(vector) === "Float32Array";
  const numbers: readonly unknown[] = Array.from(vector);
  const wrong = numbers.findIndex((number) => typeof number !== "number");
  if (wrong !== -1) {
    throw new OptionError(
      `${operator}: place ${wrong} of the other vector is ${describe(numbers[wrong])}, not a number.`,
    );
  }
  if (numbers.length === 0) throw new OptionError(`${operator}: the other vector is empty.`);
  return cast(literal(`[${numbers.join(", ")}]`), isSingle ? "FLOAT[]" : "DOUBLE[]");
}

function isNumbers(vector: unknown): vector is Iterable<unknown> & object {
  if (!isTypedArray(vector)) return Array.isArray(vector);
  return ["Float32Array", "Float64Array"].includes(typedArrayName(vector));
}
