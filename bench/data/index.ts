export { type MadeTables, makeTables } from "./make.ts";
export { TABLE_NAMES, type TableName, tableRows } from "./tables.ts";
