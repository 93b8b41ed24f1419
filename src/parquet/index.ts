/**
 * Parquet files as bytes: reading their footers, and joining many small files into one. Only the kernel reads pages.
 */
export { type Footer, readFooter } from "./footer.ts";
export { ParquetJoin } from "./join.ts";
