/** The door of the Arrow layer: batches to bytes and back, values out of batches and into them. */
export { bitAt, copyBits } from "./bitmap.ts";
export { fromArrowTable, toFlechette } from "./bridge.ts";
export { bytesOfRows } from "./byte-size.ts";
export { assertNames, assertOwnColumns, foldedName, nameFault } from "./column-names.ts";
export { BlockBuilder, concatBatches } from "./concat/block-builder.ts";
export { appendVector, type ColumnBuilder, columnBuilder } from "./concat/column-builder.ts";
export { evenSlices, nextCut } from "./concat/cut.ts";
export { dropSpareMemory } from "./concat/growable.ts";
export { blockBytes, planBlock, readBlock } from "./ipc/block.ts";
export { arrowFileWriter } from "./ipc/file-writer.ts";
export {
  FILE_TAIL,
  footerLength,
  isArrowFile,
  readArrowBytes,
  readFooterSchema,
  readSchemaMessage,
} from "./ipc/foreign.ts";
export { childFields, layoutOf, withChildren } from "./layout.ts";
export { quoteIdentifier, quoteText, quoteTextList } from "./quote.ts";
export { ColumnAssembler, ColumnSlicer, toColumns } from "./read/column-assembler.ts";
export { compileRows, type RowReader, toRows } from "./read/row-reader.ts";
export { plainType, schemaEquals, typeEquals, unifySchemas } from "./schema.ts";
export type { Table } from "./table.ts";
export { takeBatch } from "./take.ts";
export { type TypeFamily, typeFamily } from "./type-family.ts";
export { typeName } from "./typename.ts";
export { parseTypeName } from "./typename-parser.ts";
export type {
  Columns,
  DataType,
  Field,
  IntType,
  RecordBatch,
  Row,
  Schema,
  TimeUnit,
  ValueOptions,
  Vector,
} from "./types.ts";
export { bytesAt, emptyBatch, isNullAt, sliceBatch, viewOf } from "./vector.ts";
export { halfPair } from "./well-formed.ts";
export { MANY_COLUMNS } from "./wide-rows.ts";
export { columnsToBatch } from "./write/columns-to-batch.ts";
export { inRow } from "./write/misfit.ts";
export { type DeclaredTypes, RowBuilder } from "./write/row-builder.ts";
