/** What a type is, said where it is made: another one asks for a second argument, which is the compile error. */
import type { AnyRow, Dataset, DatasetPipeline } from "../../src/dataset/index.ts";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
type Otherwise<Expected, Found> = Same<Expected, Found> extends true ? [] : [{ expected: Expected; found: Found }];

export declare function rowIs<Expected>(): <R extends AnyRow>(
  dataset: Dataset<R>,
  ...wrong: Otherwise<Expected, R>
) => void;

export declare function windowRowIs<Expected>(): <R extends AnyRow>(
  pipeline: DatasetPipeline<R>,
  ...wrong: Otherwise<Expected, R>
) => void;

export declare function valueIs<Expected>(): <V>(value: V, ...wrong: Otherwise<Expected, V>) => void;

/** Bodies are read by the compiler and never run. */
export declare function test(title: string, body: () => unknown): void;
