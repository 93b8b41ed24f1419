/** What a scan asks of its source, cut into splits or as one table. */
import { columnsRead, type ScanNode, type ScanRequest, type ScanSplits, type WholeScan } from "../plan/index.ts";
import { typedNulls } from "./sql/describe.ts";

export async function splitsOf(scan: ScanNode, since: number | undefined): Promise<ScanSplits> {
  const found = await opened(scan).splits(requestOf(scan, since));
  if (found.splits.length > 0 || !scan.open?.columns?.length) return found;
  // There is nothing to read, but the columns are known: one task without rows lets a writer write a file with these
  // columns.
  return { ...found, splits: [{ kind: "sql", sql: noRows(scan), files: [] }] };
}

/** Null if its rows must come as blocks. */
export async function wholeOf(scan: ScanNode, since: number | undefined): Promise<WholeScan | null> {
  const open = opened(scan);
  if (open.whole === undefined) return null;
  const whole = await open.whole({ ...requestOf(scan, since), limit: null });
  if (whole?.sql !== null) return whole;
  // Without columns there is no table.
  return open.columns?.length ? { ...whole, sql: noRows(scan), rows: 0 } : null;
}

const noRows = (scan: ScanNode) => `(SELECT * FROM ${typedNulls(scan)} WHERE false)`;

function opened({ open, source }: ScanNode) {
  if (open === null) throw new Error(`${source.name} is opened before stages are built`);
  return open;
}

function requestOf(scan: ScanNode, since: number | undefined): ScanRequest {
  const { filters, samples, limit } = scan;
  const called = since === undefined ? {} : { since };
  const available = scan.open?.columns?.map(({ name }) => name) ?? null;
  if (scan.columns === null) return { columns: null, filters, samples, limit, ...called };
  const read = new Set(scan.columns);
  for (const filter of filters) {
    const reads = columnsRead(filter, available);
    if (reads === null) return { columns: null, filters, samples, limit, ...called };
    for (const name of reads) read.add(name);
  }
  return { columns: available?.filter((name) => read.has(name)) ?? null, filters, samples, limit, ...called };
}
