export { makeTpch, noTpchFiles, type TpchFiles, type TpchOptions, tpchFiles } from "./make.ts";
export { tpchScale } from "./size.ts";
export { TPCH_TABLES, type TpchTable } from "./tables.ts";
