/**
 * Reads the footers of small Parquet files, for the planner, in the order of the files. Null when any footer is not one
 * of the usual kind.
 */
import { type Footer, readFooter } from "../../parquet/index.ts";
import type { InspectedRow } from "../../protocol/index.ts";
import { WholeFiles } from "./whole-files.ts";

export function footersOf(files: readonly string[]): readonly InspectedRow[] | null {
  const reader = new WholeFiles({ for: "question" });
  const known: { readonly like: number; readonly schema: Uint8Array }[] = [];
  const rows: InspectedRow[] = [];
  for (const [i, path] of files.entries()) {
    const bytes = reader.read(path);
    const footer = bytes === null ? null : readFooter(bytes);
    if (footer === null) return null;
    let same = known.find(({ schema }) => isSame(schema, footer));
    if (same === undefined) {
      same = { like: i, schema: Uint8Array.from(footer.schema) };
      known.push(same);
      if (known.length > MOST_SCHEMAS) return null;
    }
    const { groups } = footer;
    rows.push({ like: same.like, rows: groups.map((group) => group.rows), bytes: groups.map(({ bytes }) => bytes) });
  }
  return rows;
}

/** Beyond this many schemas, the search for an equal one would cost too much. */
const MOST_SCHEMAS = 64;

function isSame(known: Uint8Array, { schema }: Footer): boolean {
  return known.length === schema.length && Buffer.compare(known, schema) === 0;
}
