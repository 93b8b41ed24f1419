/**
 * The table that users get: flechette's, member by member. The library's own declaration has an error that appears in
 * every project that compiles with `skipLibCheck: false`, so our declarations must not refer to it. Other declarations
 * of the library are sound.
 */
import type { Column } from "@uwdata/flechette/dist/types/column.js";
import type { Schema, StructFactory, TypeMap, ValueArray } from "@uwdata/flechette/dist/types/types.js";

/** A table of `@uwdata/flechette`. */
export interface Table<T extends TypeMap = TypeMap> {
  readonly schema: Schema;
  readonly names: (keyof T)[];
  readonly children: Column<unknown>[];
  readonly factory: StructFactory;
  /** The library's own. */
  readonly getFactory: unknown;
  readonly [Symbol.toStringTag]: string;
  readonly numCols: number;
  readonly numRows: number;
  getChildAt<R extends T[keyof T]>(index: number): Column<R>;
  getChild<P extends keyof T>(name: P): Column<T[P]>;
  /** Only these columns, in this order, renamed if names are given. */
  selectAt<V extends T[keyof T]>(indices: number[], as?: string[]): Table<{ [key: string]: V }>;
  select<K extends keyof T>(names: K[], as?: string[]): Table<{ [key: string]: T[keyof T] }>;
  toColumns(): { [P in keyof T]: ValueArray<T[P]> };
  toArray(): { [P in keyof T]: T[P] }[];
  [Symbol.iterator](): Generator<{ [P in keyof T]: T[P] }>;
  at(index: number): { [P in keyof T]: T[P] };
  get(index: number): { [P in keyof T]: T[P] };
}
