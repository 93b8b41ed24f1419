export { type MadeTables, makeTables, TABLE_NAMES, type TableName } from "./make.ts";
export { tableRows } from "./tables.ts";
export { tpchScale } from "./tpch/index.ts";
