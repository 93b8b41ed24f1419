/**
 * What is known about an object that a function returns: which of its properties are unchanged columns of the input.
 * Properties are added one after the other, as in a literal, and the later one wins. If several objects may be
 * returned, only what holds for all of them is known.
 */

/** Columns that a function provably returns unchanged. */
export interface PassedColumns {
  /** Every column of the input that is not in `made` is returned under its own name. */
  readonly rest: boolean;
  /** Output name to input name: `{ key: row.l_orderkey }`. */
  readonly columns: Readonly<Record<string, string>>;
  /** Output names that the function computes, or may compute. */
  readonly made: readonly string[];
}

/** Names of the columns that a function returns, as far as its source shows them. */
export interface ReturnedNames {
  /** Also those of the input. */
  readonly rest: boolean;
  readonly names: readonly string[];
}

export interface Shape {
  /** A property that is not named here is the input's column of that name, if there is one. */
  readonly rest: boolean;
  /** From property to the input's column; null if it is not certain to be one. */
  readonly names: ReadonlyMap<string, string | null>;
}

/** "no row": a value from which no row is made (null, undefined, an empty array). Null: it may be anything. */
export type Proof = Shape | "no row" | null;

export const EMPTY: Shape = { rest: false, names: new Map() };

function columnOf(shape: Shape, name: string): string | null {
  const known = shape.names.get(name);
  return known !== undefined ? known : shape.rest ? name : null;
}

export function put(shape: Shape, name: string, column: string | null): Shape {
  return { rest: shape.rest, names: new Map(shape.names).set(name, column) };
}

/** `...row`, where `without` are the columns that a pattern took out of it before. */
export function putInput(shape: Shape, without: ReadonlySet<string>): Shape {
  return { rest: true, names: new Map([...without].map((name) => [name, columnOf(shape, name)])) };
}

/** Properties of unknown names may have been written over the present ones. */
export function forget(shape: Shape): Shape {
  return { rest: false, names: new Map([...shape.names.keys()].map((name) => [name, null])) };
}

export function either(a: Proof, b: Proof): Proof {
  if (a === null || b === null) return null;
  if (a === "no row") return b;
  if (b === "no row") return a;
  const names = new Map<string, string | null>();
  for (const name of [...a.names.keys(), ...b.names.keys()]) {
    const column = columnOf(a, name);
    names.set(name, column === columnOf(b, name) ? column : null);
  }
  return { rest: a.rest && b.rest, names };
}

/** `changed`: columns whose values the function may have changed. Null if no column passes through. */
export function passedColumns(proof: Proof, changed: ReadonlySet<string>): PassedColumns | null {
  if (proof === null || proof === "no row") return null;
  const columns: [string, string][] = [];
  const made: string[] = [];
  for (const name of new Set([...proof.names.keys(), ...(proof.rest ? changed : [])])) {
    const column = columnOf(proof, name);
    if (column === null || changed.has(column)) made.push(name);
    else if (column !== name || !proof.rest) columns.push([name, column]);
  }
  if (!proof.rest && columns.length === 0) return null;
  return { rest: proof.rest, columns: Object.fromEntries(columns), made: made.sort() };
}

export function returnedNames(proof: Proof): ReturnedNames | null {
  if (proof === null || proof === "no row" || (!proof.rest && proof.names.size === 0)) return null;
  return { rest: proof.rest, names: [...proof.names.keys()] };
}
