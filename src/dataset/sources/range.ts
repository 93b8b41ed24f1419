/** Whole numbers in one column, `id`. */
import {
  nothingSkipped,
  type OpenSource,
  type RowSample,
  type ScanRequest,
  type ScanSplits,
  type Source,
  type SourceCut,
} from "../../plan/index.ts";
import type { Split } from "../../protocol/index.ts";
import { placeSampleSql } from "../../stages/index.ts";
import type { Engine } from "../engine.ts";
import { heldAtOnce, taskCount } from "./splitting.ts";

interface RangeBounds {
  readonly start: number;
  /** Not included. */
  readonly end: number;
  readonly step: number;
}

export function rangeSource(engine: Engine, bounds: RangeBounds, overrideNumBlocks: number | null): Source {
  const opened = openRange(engine, bounds, overrideNumBlocks);
  const { start, end, step } = bounds;
  return {
    name: "range",
    label: step === 1 ? `${start} to ${end}` : `${start} to ${end} by ${step}`,
    open: async () => opened,
  };
}

const COLUMNS = [{ name: "id", type: "BIGINT" }];

function openRange(engine: Engine, bounds: RangeBounds, override: number | null): OpenSource {
  const rows = Math.max(0, Math.ceil((bounds.end - bounds.start) / bounds.step));
  return {
    columns: COLUMNS,
    partitionColumns: [],
    prunes: false,
    samples: true,
    countRows: async () => rows,
    bytes: rows * 8,
    whole: async ({ samples }) =>
      rows === 0
        ? { sql: null, skipped: nothingSkipped, notes: [] }
        : { sql: tableSql(bounds, 0, rows, samples), skipped: nothingSkipped, notes: [] },
    splits: async (request) => splits(engine, bounds, rows, override, request),
    cut: async () => cut(engine, bounds, rows, override),
  };
}

function cut(engine: Engine, { start, step }: RangeBounds, rows: number, override: number | null): SourceCut {
  const count = taskCount({ bytes: rows * 8, rows, pieces: rows }, override, engine.settings);
  const bound = (i: number) => (count === 0 ? 0 : Math.floor((rows * i) / count));
  return {
    sizes: Array.from({ length: count }, (_, i) => (bound(i + 1) - bound(i)) * 8),
    stretch(from, to) {
      const bounds = { start: start + bound(from) * step, end: start + bound(to) * step, step };
      return openRange(engine, bounds, override === null ? null : to - from);
    },
  };
}

/** The numbers at the positions from `first` to before `last`. */
function tableSql({ start, step }: RangeBounds, first: number, last: number, samples: readonly RowSample[]): string {
  const where = samples.map((sample) => placeSampleSql("range", sample)).join(" AND ");
  const from = `range(${start + first * step}, ${start + last * step}, ${step})`;
  return `(SELECT range AS id FROM ${from}${where === "" ? "" : ` WHERE ${where}`})`;
}

function splits(
  engine: Engine,
  bounds: RangeBounds,
  rows: number,
  override: number | null,
  { limit, samples }: ScanRequest,
): ScanSplits {
  const wanted = limit === null ? rows : Math.min(rows, limit);
  const count = taskCount({ bytes: wanted * 8, rows: wanted, pieces: wanted }, override, engine.settings);
  const cut = Array.from({ length: count }, (_, i): Split => {
    const first = Math.floor((wanted * i) / count);
    const last = Math.floor((wanted * (i + 1)) / count);
    const sql = tableSql(bounds, first, last, samples);
    if (samples.length > 0) return { kind: "sql", sql, files: [] };
    return {
      kind: "sql",
      sql,
      files: [],
      rows: last - first,
      ...heldAtOnce((last - first) * 8, COLUMNS, engine.settings),
    };
  });
  return { splits: cut, skipped: { ...nothingSkipped, rows: rows - wanted }, notes: [] };
}
