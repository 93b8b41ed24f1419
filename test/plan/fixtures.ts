/** Plans for tests of rules: a source with known columns, one without, a function that is never called. */
import {
  type Column,
  type FunctionNode,
  functionNode,
  nothingSkipped,
  type OpenSource,
  type Plan,
  type ScanNode,
  scan,
} from "../../src/plan/index.ts";

export function openSource(columns: readonly Column[] | null, more: Partial<OpenSource> = {}): OpenSource {
  return {
    columns,
    partitionColumns: [],
    prunes: true,
    samples: true,
    countRows: async () => null,
    splits: async () => ({
      splits: [{ kind: "sql", sql: "t", files: [] }],
      skipped: nothingSkipped,
      notes: [],
    }),
    cut: () => Promise.reject(new Error("this source is not read in stretches")),
    ...more,
  };
}

export const columns: readonly Column[] = [
  { name: "a", type: "BIGINT" },
  { name: "b", type: "VARCHAR" },
  { name: "c", type: "DOUBLE" },
];

/** A scan of a, b and c, opened. */
export function table(name = "t", open: OpenSource = openSource(columns)): ScanNode {
  const source = { name: "read", label: name, open: async () => open };
  return Object.freeze({ ...scan(source), open });
}

export const unknownTable = () => table("u", openSource(null));

export function fn(
  input: Plan,
  more: Partial<Omit<FunctionNode, "kind" | "fn">> & {
    columns?: readonly string[];
    isClass?: boolean;
    name?: string;
    payload?: Uint8Array;
  } = {},
): FunctionNode {
  const { columns: reads = null, isClass = false, name = "f", payload = new Uint8Array(1), ...rest } = more;
  const batchSize = more.form === "mapBatches" ? 1024 : 1;
  return functionNode({
    input,
    form: "map",
    fn: { payload, name, isClass, columns: reads, columnsDeclared: false, returns: null },
    options: { batchSize, batchFormat: "columns", maxInFlight: 16, onError: "fail" },
    request: { cpu: 1, gpu: 0, memory: 0 },
    concurrency: null,
    maxRetries: null,
    maxOomRetries: null,
    ...rest,
  });
}
