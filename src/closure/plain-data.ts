/**
 * Separates data that v8.serialize carries exactly from data that it would change (lost prototypes, getters, symbols,
 * frozen objects, views of a shared buffer) or refuse. Walks without recursion, because data may be deep. The answer
 * for a value is kept, together with everything found on the way.
 */
import { types } from "node:util";
import { builtinOf, builtinPath } from "./builtins.ts";

interface PlainData {
  isPlain(value: object): boolean;
}

export function plainData(): PlainData {
  const plain = new WeakSet<object>();
  const other = new WeakSet<object>();

  function walk(root: object): boolean {
    const seen = new Set<object>([root]);
    const path: { value: object; children: object[] }[] = [];
    const enter = (value: object): boolean => {
      const children = childrenOfPlain(value);
      if (children === null) return false;
      path.push({ value, children });
      return true;
    };
    let good = enter(root);
    while (good && path.length > 0) {
      const top = path[path.length - 1];
      const child = top?.children.pop();
      if (child === undefined) path.pop();
      else if (other.has(child)) good = false;
      else if (!plain.has(child) && !seen.has(child)) {
        seen.add(child);
        good = enter(child);
      }
    }
    if (good) for (const value of seen) plain.add(value);
    // Everything on the path to a value that is not plain contains it, and so is not plain either.
    else for (const { value } of path) other.add(value);
    return good;
  }

  return {
    isPlain(value) {
      if (plain.has(value)) return true;
      if (other.has(value)) return false;
      const good = walk(value);
      if (!good) other.add(value);
      return good;
    },
  };
}

/** The objects directly inside; null if the value itself is not plain. */
function childrenOfPlain(value: object): object[] | null {
  if (typeof value === "function" || types.isProxy(value) || !Object.isExtensible(value)) return null;
  const prototype: object | null = Object.getPrototypeOf(value);
  const children: object[] = [];
  const kind = builtinOf(prototype);
  if (kind === "Array") {
    if (!Array.isArray(value)) return null;
    for (let i = 0; i < value.length; i++) if (!take(value[i], children)) return null;
  } else if (kind === "Object") {
    if (types.isArgumentsObject(value) || builtinPath(value) !== null || isExotic(value)) return null;
    if (!ownData(value, children)) return null;
  } else if (kind === "Map" && types.isMap(value)) {
    if (Reflect.ownKeys(value).length > 0) return null;
    for (const [key, item] of value) if (!take(key, children) || !take(item, children)) return null;
  } else if (kind === "Set" && types.isSet(value)) {
    if (Reflect.ownKeys(value).length > 0) return null;
    for (const item of value) if (!take(item, children)) return null;
  } else if (kind === "Date" && types.isDate(value)) {
    if (Reflect.ownKeys(value).length > 0) return null;
  } else return null;
  return children;
}

/** An object with the ordinary prototype that is of another kind inside. */
function isExotic(value: object): boolean {
  return types.isExternal(value) || types.isModuleNamespaceObject(value) || types.isNativeError(value);
}

function take(value: unknown, children: object[]): boolean {
  if (typeof value === "object") {
    if (value !== null) children.push(value);
    return true;
  }
  return typeof value !== "function" && typeof value !== "symbol";
}

function ownData(value: object, children: object[]): boolean {
  const keys = Object.getOwnPropertyNames(value);
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  for (const key of keys) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key);
    if (descriptor === undefined || descriptor.get !== undefined || descriptor.set !== undefined) return false;
    if (!descriptor.writable || !descriptor.configurable || !descriptor.enumerable) return false;
    if (!take(descriptor.value, children)) return false;
  }
  return true;
}
