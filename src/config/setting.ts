/**
 * A setting: its kind, its default, its description. A schema is a tree of settings; a path such as
 * "worker.memory.target" names a leaf. The types of given options and of the settings in force follow from the tree.
 */
import type { Kind } from "./kinds.ts";

export class Setting<T = unknown, D extends T | undefined = T | undefined> {
  constructor(
    readonly kind: Kind<T>,
    /** Undefined: there is no default value, and `unset` says what happens. */
    readonly fallback: D,
    /** The default in words, if there is no value for it. */
    readonly unset: string,
    readonly about: string,
  ) {}
}

export interface Group {
  readonly [key: string]: Setting | Group;
}

/** A setting with a default value. */
export function setting<T>(kind: Kind<T>, fallback: T, about: string): Setting<T, T> {
  return new Setting(kind, fallback, "", about);
}

/** A setting without a default value: `unset` says in words what happens if it is not given. */
export function optional<T>(kind: Kind<T>, unset: string, about: string): Setting<T, undefined> {
  return new Setting<T, undefined>(kind, undefined, unset, about);
}

/** The options that a user may give. */
export type Given<S> = S extends Setting<infer T> ? T : { readonly [K in keyof S]?: Given<S[K]> };

/** The settings in force: every key is present, and undefined only if there is no default. */
export type Values<S> =
  S extends Setting<infer T, infer D>
    ? D extends undefined
      ? T | undefined
      : T
    : { readonly [K in keyof S]: Values<S[K]> };

/** The default as it would be written, or `unset`. */
export function shownDefault({ fallback, unset }: Setting): string {
  return fallback === undefined ? unset : JSON.stringify(fallback);
}

/** Every leaf with its path. */
export function leaves(group: Group, prefix = ""): [path: string, setting: Setting][] {
  return Object.entries(group).flatMap(([key, node]): [string, Setting][] =>
    node instanceof Setting ? [[prefix + key, node]] : leaves(node, `${prefix}${key}.`),
  );
}

/** The tree with a value in place of each leaf. */
export function valuesOf<S extends Group>(group: S, value: (path: string) => unknown): Values<S>;
export function valuesOf(group: Group, value: (path: string) => unknown): unknown {
  const build = (within: Group, prefix: string): object =>
    Object.fromEntries(
      Object.entries(within).map(([key, node]) => [
        key,
        node instanceof Setting ? value(prefix + key) : build(node, `${prefix}${key}.`),
      ]),
    );
  return build(group, "");
}
