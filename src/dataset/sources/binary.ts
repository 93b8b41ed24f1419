/** Whole files: one row a file, with its `path` and its `bytes`. */
import { wholeFilesSql } from "./kernel-paths.ts";
import type { SqlFormat } from "./sql-files.ts";

export const binaryFormat: SqlFormat = {
  operator: "readBinary",
  leavesOutRows: false,
  columns: async () => [
    { name: "path", type: "VARCHAR" },
    { name: "bytes", type: "BLOB" },
  ],
  isStream: () => false,
  takesContents: true,
  tableSql(files, _columns, _includePaths, slot) {
    const table = slot.holdsContents ? slot.takeContents("binary") : wholeFilesSql("read_blob", files);
    return `(SELECT filename AS path, content AS bytes FROM ${table})`;
  },
};
