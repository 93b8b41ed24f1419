export { makeTpch, type TpchFiles, type TpchOptions, tpchFiles } from "./make.ts";
export { TPCH_TABLES, type TpchTable } from "./tables.ts";
