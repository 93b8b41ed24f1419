/** Flattens settings given as nested objects, in code or in a file, into a list of entries. */

import { SCHEMA } from "./schema.ts";
import { type Group, Setting } from "./setting.ts";
import { type Entry, notAGroup, type Source, unknownKey } from "./source.ts";

/** `where` gives the source of a key. A key without a value and an empty group give no entries. */
export function entriesOf(given: unknown, where: (path: readonly string[]) => Source): Entry[] {
  return inGroup(given, SCHEMA, [], where);
}

function inGroup(
  given: unknown,
  group: Group,
  at: readonly string[],
  where: (path: readonly string[]) => Source,
): Entry[] {
  if (given === undefined || given === null) return [];
  const place = at.join(".");
  if (typeof given !== "object" || Array.isArray(given)) throw notAGroup(given, place, group, where(at));
  return Object.entries(given).flatMap(([key, value]: [string, unknown]): Entry[] => {
    const path = [...at, key];
    const node = Object.hasOwn(group, key) ? group[key] : undefined;
    if (node === undefined) throw unknownKey(key, place, group, where(path));
    if (!(node instanceof Setting)) return inGroup(value, node, path, where);
    return value === undefined ? [] : [{ path: path.join("."), setting: node, value, source: where(path) }];
  });
}
