/**
 * Writes objects of one shape into one sink a field. The code is generated for the shape: it counts the keys, reads
 * each field by its name and passes it to its sink, without lookups.
 */
import { RowShapeError } from "../../errors/index.ts";
import type { Sink } from "./sink.ts";

export interface RecordWriter {
  readonly sinks: readonly Sink[];
  write(index: number, record: object): void;
}

type WriteFunction = (index: number, record: object) => void;

/** Rows of fewer columns are written by one function, which is fastest. */
const FIELDS_PER_PART = 400;

/** `what` begins the message about a record of another shape. */
export function recordWriter(
  names: readonly string[],
  makeSink: (index: number, replace: (sink: Sink) => void) => Sink,
  what: string,
): RecordWriter {
  let generated: WriteFunction | null = null;
  const sinks: Sink[] = names.map((_, index) =>
    makeSink(index, (sink) => {
      sinks[index] = sink;
      generated = null;
    }),
  );
  const otherShape = (record: object): never => {
    throw otherKeys(names, record, what);
  };
  return {
    sinks,
    write(index, record) {
      generated ??= generate(names, sinks, otherShape);
      generated(index, record);
    },
  };
}

function generate(
  names: readonly string[],
  sinks: readonly Sink[],
  otherShape: (record: object) => never,
): WriteFunction {
  const declare = sinks.map((_, index) => `const s${index}=sinks[${index}];`);
  const write = names.map((name, index) => {
    const key = JSON.stringify(name);
    return `x=record[${key}];if(x===undefined&&!(${key} in record))otherShape(record);s${index}.write(i,x);`;
  });
  // V8 optimises no function of more than 60 kB of bytecode, so the code is cut into functions of some fields.
  const parts: string[] = [];
  for (let at = 0; at < write.length; at += FIELDS_PER_PART) {
    const some = write.slice(at, at + FIELDS_PER_PART).join("\n");
    parts.push(`function part${parts.length}(i,record){let x;${some}}`);
  }
  const source = `"use strict";${declare.join("")}
    ${parts.length === 1 ? "" : parts.join("\n")}
    return function write(i,record){
      let count=0;for(const key in record)count++;
      if(count!==${names.length})otherShape(record);
      ${parts.length === 1 ? `let x;${write.join("\n")}` : parts.map((_, part) => `part${part}(i,record);`).join("")}
    };`;
  const make = new Function("sinks", "otherShape", source) as (
    own: readonly Sink[],
    fail: (record: object) => never,
  ) => WriteFunction;
  return make([...sinks], otherShape);
}

function otherKeys(names: readonly string[], record: object, what: string): RowShapeError {
  const keys = Object.keys(record);
  const have = new Set(keys);
  const missing = names.find((name) => !have.has(name));
  if (missing !== undefined) {
    return new RowShapeError(
      `${what} lacks "${missing}", which the first one had; it has ${keys.join(", ") || "nothing"}. ` +
        "Give all of them the same fields, with null where there is no value.",
      missing,
    );
  }
  const expected = new Set(names);
  const extra = keys.find((key) => !expected.has(key)) ?? null;
  return new RowShapeError(
    `${what} has "${extra}", which the first one lacked; the first one had ${names.join(", ")}. ` +
      "Give all of them the same fields, with null where there is no value.",
    extra,
  );
}
