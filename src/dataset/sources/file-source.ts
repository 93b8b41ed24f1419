/**
 * A source over paths. It is opened when first needed, and once; again after a failure, or when it is to be read anew.
 */
import type { OpenSource, Source } from "../../plan/index.ts";
import { listFiles } from "./files.ts";

export function fileSource(name: string, paths: readonly string[], open: () => Promise<OpenSource>): Source {
  let opened: Promise<OpenSource> | null = null;
  return {
    name,
    label: paths.join(", "),
    files: async () => (await listFiles(paths, name)).files.map(({ path }) => path),
    again: () => fileSource(name, paths, open),
    open() {
      opened ??= open();
      // A file that was missing may exist the next time.
      opened.catch(() => {
        opened = null;
      });
      return opened;
    },
  };
}
