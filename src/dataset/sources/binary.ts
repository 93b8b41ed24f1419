/** Files as they are: a row a file, its `path` and its `bytes`. */
import { quoteTextList } from "../../plan/index.ts";
import type { SqlFormat } from "./sql-files.ts";

export const binaryFormat: SqlFormat = {
  operator: "readBinary",
  columns: async () => [
    { name: "path", type: "VARCHAR" },
    { name: "bytes", type: "BLOB" },
  ],
  tableSql(files) {
    const list = quoteTextList(files.map((file) => file.path));
    return `(SELECT filename AS path, content AS bytes FROM read_blob(${list}))`;
  },
};
