import { describe, expect, test } from "vitest";
import {
  arrowFileWriter,
  BlockBuilder,
  blockBytes,
  type Columns,
  columnsToBatch,
  concatBatches,
  type DataType,
  emptyBatch,
  fromArrowTable,
  planBlock,
  type RecordBatch,
  readArrowBytes,
  readBlock,
  type Schema,
  schemaEquals,
  sliceBatch,
  toColumns,
  toFlechette,
  toRows,
  typeName,
  unifySchemas,
} from "../../src/arrow/index.ts";
import { RowShapeError, ValueError } from "../../src/errors/index.ts";

const batchOf = (columns: Columns): RecordBatch => columnsToBatch(columns);

describe("[R1] blocks", () => {
  test("every buffer lies at a multiple of 64 bytes, views of the block's own memory", () => {
    const plan = planBlock(batchOf({ a: [1, null, 3], s: ["x", null, "yz"], l: [[1n], [], null] }));
    const memory = new Uint8Array(plan.byteLength);
    plan.write(memory);
    const visit = (vector: RecordBatch["columns"][number]): void => {
      for (const buffer of vector.buffers) {
        if (buffer === null) continue;
        expect(buffer.buffer).toBe(memory.buffer);
        expect(buffer.byteOffset % 64).toBe(0);
      }
      vector.children.forEach(visit);
    };
    readBlock(memory).columns.forEach(visit);
  });

  test("[D5] what lies under nulls, past the end of bitmaps and in the target before does not show in the bytes", () => {
    const schema: Schema = { fields: [{ name: "v", type: { kind: "float", bits: 64 }, nullable: true }] };
    const make = (junk: number, bits: number): RecordBatch => ({
      schema,
      length: 3,
      columns: [
        {
          type: { kind: "float", bits: 64 },
          length: 3,
          nullCount: -1,
          offset: 0,
          buffers: [Uint8Array.of(bits), new Uint8Array(Float64Array.of(1, junk, 3).buffer)],
          children: [],
          dictionary: null,
        },
      ],
    });
    const bytes = [make(5, 0b11111101), make(7, 0b00000101)].map((batch, fill) => {
      const plan = planBlock(batch);
      const target = new Uint8Array(plan.byteLength).fill(fill * 255);
      plan.write(target);
      return target;
    });
    expect(bytes[0]).toEqual(bytes[1]);
  });

  test("[D5] booleans under nulls do not show either", () => {
    const make = (values: number): RecordBatch => ({
      schema: { fields: [{ name: "v", type: { kind: "bool" }, nullable: true }] },
      length: 9,
      columns: [
        {
          type: { kind: "bool" },
          length: 9,
          nullCount: 3,
          offset: 2,
          buffers: [Uint8Array.of(0b11001111, 0b00000110), Uint8Array.of(values, 0b00000110)],
          children: [],
          dictionary: null,
        },
      ],
    });
    const one = blockBytes(make(0b01010101));
    expect(blockBytes(make(0b01100101))).toEqual(one);
    expect(blockBytes(make(0b01010001))).not.toEqual(one);
    expect(toRows(readBlock(one)).map((row) => row.v)).toEqual([
      true,
      false,
      null,
      null,
      true,
      false,
      null,
      true,
      true,
    ]);
  });

  test("a target that is too small is refused before anything is written", () => {
    const plan = planBlock(batchOf({ a: [1] }));
    expect(() => plan.write(new Uint8Array(plan.byteLength - 1))).toThrow(ValueError);
  });

  test("no rows, and no columns", () => {
    const empty = readBlock(blockBytes(emptyBatch(batchOf({ a: [1], s: ["x"], l: [[1]] }).schema)));
    expect(empty.length).toBe(0);
    expect(toRows(empty)).toEqual([]);
    expect(toColumns(empty)).toEqual({ a: new Float64Array(0), s: [], l: [] });
    const bare = readBlock(blockBytes({ schema: { fields: [] }, length: 7, columns: [] }));
    expect(bare.length).toBe(7);
  });

  test("the same schema bytes give the same schema object, so compiled code is found again", () => {
    const one = readBlock(blockBytes(batchOf({ a: [1], s: ["x"] })));
    const two = readBlock(blockBytes(batchOf({ a: [2], s: ["y"] })));
    expect(two.schema).toBe(one.schema);
  });
});

describe("block building", () => {
  test("null columns take the type of a later batch, nested ones too", () => {
    const builder = new BlockBuilder();
    builder.append(batchOf({ a: [null], l: [[]], s: [{ x: null }] }));
    builder.append(batchOf({ a: ["x"], l: [[1]], s: [{ x: true }] }));
    builder.append(batchOf({ a: [null], l: [null], s: [{ x: null }] }));
    const whole = builder.finish();
    if (whole === null) throw new Error("nothing");
    expect(whole.schema.fields.map((field) => typeName(field.type))).toEqual([
      "VARCHAR",
      "DOUBLE[]",
      "STRUCT(x BOOLEAN)",
    ]);
    expect(toRows(whole)).toEqual([
      { a: null, l: [], s: { x: null } },
      { a: "x", l: [1], s: { x: true } },
      { a: null, l: null, s: { x: null } },
    ]);
  });

  test("columns are matched by name", () => {
    const whole = concatBatches([batchOf({ a: [1], b: ["x"] }), batchOf({ b: ["y"], a: [2] })]);
    expect(toRows(whole)).toEqual([
      { a: 1, b: "x" },
      { a: 2, b: "y" },
    ]);
  });

  test("large offsets and small ones are one type", () => {
    const large: DataType = { kind: "utf8", large: true };
    const small = batchOf({ s: ["a", "bc"], l: [["x"], []] });
    const wide = columnsToBatch(
      { s: ["d", null], l: [null, ["y", "z"]] },
      new Map<string, DataType>([
        ["s", large],
        ["l", { kind: "list", large: true, child: { name: "item", type: large, nullable: true } }],
      ]),
    );
    for (const batches of [
      [small, wide],
      [wide, small],
    ]) {
      expect(toRows(concatBatches(batches))).toEqual(batches.flatMap((batch) => toRows(batch)));
    }
  });

  test("a differing column is named, and nothing of the batch is taken", () => {
    const builder = new BlockBuilder();
    builder.append(batchOf({ a: [1], b: ["x"] }));
    expect(() => builder.append(batchOf({ a: [1], b: [2] }))).toThrow(/Column "b" is VARCHAR.*DOUBLE/);
    expect(() => builder.append(batchOf({ a: [1] }))).toThrow(/"b" is missing/);
    expect(() => builder.append(batchOf({ a: [1], b: ["x"], c: [1] }))).toThrow(/"c" is in a later batch/);
    expect(() => builder.append(batchOf({ a: Int32Array.of(1), b: ["x"] }))).toThrow(RowShapeError);
    expect(builder.rows).toBe(1);
    expect(toRows(builder.finish() ?? batchOf({ a: [] }))).toEqual([{ a: 1, b: "x" }]);
  });

  test("rows and bytes are counted, and start again after finish", () => {
    const builder = new BlockBuilder();
    expect(builder.finish()).toBeNull();
    const batch = batchOf({ a: new Float64Array(1000), s: Array.from({ length: 1000 }, () => "ten chars.") });
    builder.append(batch);
    builder.append(batch, 0, 500);
    expect(builder.rows).toBe(1500);
    expect(builder.byteLength).toBe(1500 * 8 + 1501 * 4 + 1500 * 10);
    expect(builder.finish()?.length).toBe(1500);
    expect(builder.rows).toBe(0);
    expect(builder.byteLength).toBe(0);
    expect(builder.finish()).toBeNull();
    builder.append(sliceBatch(batch, 10, 12));
    expect(toRows(builder.finish() ?? batch)).toEqual(toRows(sliceBatch(batch, 10, 12)));
  });

  test("a cleared builder gives what a new one would, whatever was in it", () => {
    const text = Array.from({ length: 3000 }, (_, row) => (row % 3 === 0 ? null : `text ${row}`));
    const batches = [
      batchOf({ a: [1, null], s: ["x", "y"], l: [[1], null] }),
      batchOf({ a: [null], s: [null], l: [[]] }),
      batchOf({ b: [true], a: ["another type"] }),
      batchOf({ a: new Float64Array(3000), s: text, l: text.map(() => [1, 2]) }),
    ];
    const builder = new BlockBuilder();
    const bytesOf = (from: BlockBuilder, batch: RecordBatch) => {
      from.append(batch);
      return blockBytes(from.finish() ?? emptyBatch(batch.schema));
    };
    for (const batch of [...batches, ...batches.toReversed()]) {
      builder.clear();
      expect(bytesOf(builder, batch)).toEqual(bytesOf(new BlockBuilder(), batch));
      // As a task that failed leaves it.
      builder.append(batch);
    }
  });

  test("concatBatches of nothing says so", () => {
    expect(() => concatBatches([])).toThrow(ValueError);
  });
});

describe("[A13] schemas", () => {
  const schemaOf = (columns: Columns): Schema => batchOf(columns).schema;

  test("equality is of names, types and order", () => {
    expect(schemaEquals(schemaOf({ a: [1], b: ["x"] }), schemaOf({ a: [2], b: ["y"] }))).toBe(true);
    expect(schemaEquals(schemaOf({ a: [1], b: ["x"] }), schemaOf({ b: ["x"], a: [1] }))).toBe(false);
    expect(schemaEquals(schemaOf({ a: [1] }), schemaOf({ a: [1n] }))).toBe(false);
    expect(schemaEquals(schemaOf({ a: [{ x: 1 }] }), schemaOf({ a: [{ y: 1 }] }))).toBe(false);
  });

  test("unifying fills nulls in and refuses the rest", () => {
    const unified = unifySchemas(schemaOf({ a: [null], b: [[1]] }), schemaOf({ b: [[]], a: ["x"] }));
    expect(unified?.fields.map((field) => [field.name, typeName(field.type)])).toEqual([
      ["a", "VARCHAR"],
      ["b", "DOUBLE[]"],
    ]);
    expect(unifySchemas(schemaOf({ a: [1] }), schemaOf({ a: ["x"] }))).toBeNull();
    expect(unifySchemas(schemaOf({ a: [1] }), schemaOf({ b: [1] }))).toBeNull();
    const value: DataType = { kind: "utf8", large: false };
    const index = { kind: "int", bits: 8, signed: true } as const;
    const dictionary: Schema = { fields: [{ name: "a", nullable: true, type: { kind: "dictionary", index, value } }] };
    expect(unifySchemas(dictionary, schemaOf({ a: ["x"] }))?.fields[0]?.type).toEqual(value);
  });
});

describe("[A10] other libraries' tables", () => {
  test("flechette's table shows the values", () => {
    const table = toFlechette([
      batchOf({ n: [1, null], s: ["x", "é"], i: [1n, 2n] }),
      batchOf({ n: [null], s: [null], i: [3n] }),
    ]);
    expect(table.toArray()).toEqual([
      { n: 1, s: "x", i: 1 },
      { n: null, s: "é", i: 2 },
      { n: null, s: null, i: 3 },
    ]);
  });

  test("its memory is its own", () => {
    const values = Float64Array.of(1, 2);
    const table = toFlechette([batchOf({ v: values })]);
    values.fill(9);
    expect(table.toArray()).toEqual([{ v: 1 }, { v: 2 }]);
  });

  test("IPC bytes and array buffers are taken", () => {
    const bytes = blockBytes(batchOf({ v: [1, 2] }));
    for (const value of [bytes, bytes.buffer, Buffer.from(bytes)]) {
      expect(fromArrowTable(value).flatMap((batch) => toRows(batch))).toEqual([{ v: 1 }, { v: 2 }]);
    }
  });

  test("what is no table says what came and what is taken", () => {
    for (const value of [null, 5, "text", {}, [], new Map()]) {
      expect(() => fromArrowTable(value)).toThrow(/Not an Arrow table.*flechette.*apache-arrow/);
    }
  });
});

test("[A11] an Arrow file takes batches of its own schema only", () => {
  const writer = arrowFileWriter(batchOf({ a: [1] }).schema);
  expect(() => writer.batch(batchOf({ a: ["x"] }))).toThrow(RowShapeError);
  const file = Buffer.concat([writer.header(), writer.footer()]);
  expect(readArrowBytes(file).batches).toEqual([]);
  expect(readArrowBytes(file).schema.fields.map((field) => field.name)).toEqual(["a"]);
});
