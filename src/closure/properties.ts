/**
 * Own properties of an object as payload properties: values, getters and setters, attributes, and whether it is frozen.
 */
import { types } from "node:util";
import type { Graph } from "./graph.ts";
import {
  CONFIGURABLE,
  ENUMERABLE,
  emptySlots,
  type Integrity,
  ORDINARY,
  type Properties,
  WRITABLE,
} from "./payload.ts";
import { below, type Trail } from "./trail.ts";

export function emptyProperties(): Properties {
  return { names: [], slots: emptySlots(), flags: null, accessors: null };
}

/** The named own properties; an empty object if there are none. */
export function encodeProperties(
  graph: Graph,
  value: object,
  trail: Trail,
  keys: readonly (string | symbol)[],
): { properties?: Properties } {
  const properties = emptyProperties();
  for (const key of keys) {
    const descriptor = Object.getOwnPropertyDescriptor(value, key);
    if (descriptor === undefined) continue;
    const step = below(trail, key, value);
    const name = typeof key === "symbol" ? graph.node(key, step) : key;
    // V8 keeps an error's stack behind an accessor of its own; only the text travels.
    if (key === "stack" && types.isNativeError(value)) {
      appendProperty(graph, properties, name, String(value.stack), WRITABLE | CONFIGURABLE, step);
    } else if (descriptor.get !== undefined || descriptor.set !== undefined) {
      properties.accessors ??= [];
      properties.accessors.push({
        name,
        get: descriptor.get === undefined ? null : graph.node(descriptor.get, step),
        set: descriptor.set === undefined ? null : graph.node(descriptor.set, step),
        flags: flagsOf(descriptor),
      });
    } else appendProperty(graph, properties, name, descriptor.value, flagsOf(descriptor), step);
  }
  if (properties.names.length === 0 && properties.accessors === null) return {};
  properties.names = graph.intern(properties.names);
  return { properties };
}

export function appendProperty(
  graph: Graph,
  properties: Properties,
  name: string | number,
  value: unknown,
  flags: number,
  trail: Trail,
): void {
  if (flags !== ORDINARY) properties.flags ??= properties.names.map(() => ORDINARY);
  properties.names.push(name);
  properties.flags?.push(flags);
  graph.put(properties.slots, value, trail);
}

function flagsOf(descriptor: PropertyDescriptor): number {
  return (
    (descriptor.writable ? WRITABLE : 0) |
    (descriptor.enumerable ? ENUMERABLE : 0) |
    (descriptor.configurable ? CONFIGURABLE : 0)
  );
}

export function integrityOf(value: object): Integrity {
  if (Object.isFrozen(value)) return "frozen";
  return Object.isSealed(value) ? "sealed" : Object.isExtensible(value) ? "extensible" : "closed";
}
