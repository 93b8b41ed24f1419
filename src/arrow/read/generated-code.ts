/**
 * Code generated for one set of columns: fixed-width values are read in place by expressions, and each row is one
 * object literal. So a row needs no lookup of its columns.
 */
import type { DataType, Field, ValueOptions, Vector } from "../types.ts";
import { bufferOf, validityOf, viewOf } from "../vector.ts";
import { MANY_COLUMNS } from "../wide-rows.ts";
import * as exact from "./exact.ts";
import { fixedCode } from "./fixed-code.ts";
import { type ValueReader, valueReader } from "./value-reader.ts";

/** Functions that generated code may call. */
const run = { ...exact, viewOf, validityOf, bufferOf };

/** Column names reach generated code only as JSON strings, which are valid source for any name. */
const literal = (name: string): string => JSON.stringify(name);

/** One column inside generated code: its variables, their binding and its expression. */
interface InlineColumn {
  readonly declare: string;
  readonly bind: (vector: string) => string;
  readonly value: (index: string) => string;
  /** The expression of a value that is known not to be null. */
  readonly present: (index: string) => string;
  readonly maybeNull: string;
}

/** For fixed-width types. `id` makes the variables unique. */
function inlineColumn(type: DataType, options: ValueOptions, column: string, id: number): InlineColumn | null {
  const code = fixedCode(type, options);
  if (code === null) return null;
  const [a, n, o, t] = [`a${id}`, `n${id}`, `o${id}`, `t${id}`];
  const present = (i: string): string => code.expression(a, i, t, literal(column));
  return {
    declare: `let ${a},${n}=null,${o}=0,${t}=0;`,
    bind: (vector) =>
      `${n}=run.validityOf(${vector});${o}=${vector}.offset;` +
      `${a}=run.viewOf(${code.view},run.bufferOf(${vector},1),${o}*${code.each},${vector}.length*${code.each});`,
    present,
    value: (i) => `(${n}!==null&&(${n}[(${o}+${i})>>>3]&(1<<((${o}+${i})&7)))===0?null:${present(i)})`,
    maybeNull: `${n}!==null`,
  };
}

/** The reader of a column whose values are expressions; null for other types. */
export function generatedReader(type: DataType, options: ValueOptions, column: string): ValueReader | null {
  const inline = inlineColumn(type, options, column, 0);
  if (inline === null) return null;
  const source = `"use strict";${inline.declare}
    return {
      bind(vector){${inline.bind("vector")}},
      at(i){return ${inline.value("i")}},
      fill(out,into,from,to){
        if(${inline.maybeNull}){for(let i=from;i<to;i++)out[into++]=${inline.value("i")};}
        else{for(let i=from;i<to;i++)out[into++]=${inline.present("i")};}
      },
    };`;
  const make = new Function("run", source) as (calls: typeof run) => ValueReader;
  return make(run);
}

export interface RecordFunctions {
  readonly bind: (columns: readonly Vector[]) => void;
  /** A plain object with the fields at an index, keys in order. */
  readonly record: (index: number) => Record<string, unknown>;
}

/**
 * Generated code with one object per index: fixed-width columns are read in place, others by their readers. A key is
 * only computed if a plain one would mean something else ("__proto__").
 */
export function recordFunctions(
  fields: readonly Field[],
  options: ValueOptions,
  parent: string | null,
): RecordFunctions {
  const declare: string[] = [];
  const bind: string[] = [];
  const entries: RecordEntry[] = [];
  const readers: (ValueReader | null)[] = [];
  for (const [id, field] of fields.entries()) {
    const column = parent === null ? field.name : `${parent}.${field.name}`;
    const inline = inlineColumn(field.type, options, column, id);
    const key = field.name === "__proto__" ? '["__proto__"]' : literal(field.name);
    if (inline === null) {
      readers.push(valueReader(field.type, options, column));
      declare.push(`const r${id}=readers[${id}];`);
      bind.push(`r${id}.bind(columns[${id}]);`);
      entries.push({ key, value: `r${id}.at(i)` });
    } else {
      readers.push(null);
      declare.push(inline.declare);
      bind.push(inline.bind(`columns[${id}]`));
      entries.push({ key, value: inline.value("i") });
    }
  }
  const source = `"use strict";${declare.join("\n")}
    ${recordSource(entries)}
    return {
      bind(columns){${bind.join("\n")}},
      record,
    };`;
  const make = new Function("run", "readers", source) as (
    calls: typeof run,
    nested: readonly (ValueReader | null)[],
  ) => RecordFunctions;
  return make(run, readers);
}

/** One field of a record as source. */
interface RecordEntry {
  readonly key: string;
  readonly value: string;
}

/** V8 optimises no function of more than 60 kB of bytecode. */
const FIELDS_PER_PART = 200;

/**
 * The function that makes a record. V8 makes a dictionary of an object with more than 1,020 keys. A copy of a literal
 * of constants that is one already takes half of the time of adding so many keys to a new one.
 */
function recordSource(entries: readonly RecordEntry[]): string {
  const isPlain = !entries.some(({ key }) => key.startsWith("["));
  if (entries.length <= MANY_COLUMNS || !isPlain) {
    return `function record(i){return {${entries.map(({ key, value }) => `${key}:${value}`).join(",\n")}}}`;
  }
  const parts: string[] = [];
  for (let at = 0; at < entries.length; at += FIELDS_PER_PART) {
    const some = entries.slice(at, at + FIELDS_PER_PART).map(({ key, value }) => `to[${key}]=${value};`);
    parts.push(`function part${parts.length}(to,i){${some.join("\n")}}`);
  }
  const template = entries.map(({ key }) => `${key}:null`).join(",");
  const calls = parts.map((_, part) => `part${part}(to,i);`).join("");
  return `${parts.join("\n")}\nfunction record(i){const to={${template}};${calls}return to}`;
}
