/**
 * CSV files large enough to be proved before they are read: thousands of plain rows with some odd values among them,
 * anywhere. A value is read as it was written, or refused by an error that names its file.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { count, type Dataset, SourceError, sql } from "spillway";
import { EXACT } from "../arrow/random-columns.ts";
import { type Any, Choice, quoted } from "../end-to-end/differential/step.ts";
import { type Cell, columnOfCells, wrongWith } from "./cells.ts";
import { Difference } from "./difference.ts";
import { DIRECTORY_NAMES } from "./sources.ts";
import type { World } from "./world.ts";

const day = (i: number) => new Date(86_400_000 * ((i * 37) % 40_000)).toISOString().slice(0, 10);
const clock = (i: number) => new Date(1000 * ((i * 7919) % 86_400)).toISOString().slice(11, 19);
const moment = (text: string): Cell => ({
  text,
  form: "moment",
  moment: Date.parse(text.length > 10 ? `${text}Z` : text),
});

/** By the number of the row. */
const PLAIN: readonly ((i: number) => Cell)[] = [
  (i) => ({ text: String(i), form: "number" }),
  (i) => ({ text: String((i * 7919) % 1_000_003), form: "number" }),
  (i) => ({ text: String(-i * 1_000_003), form: "number" }),
  (i) => ({ text: ((i % 4096) / 8).toFixed(3), form: "number" }),
  (i) => moment(day(i)),
  (i) => moment(`${day(i)} ${clock(i)}`),
  (i) => ({ text: `name ${i % 50}`, form: "text" }),
  (i) => (i % 3 === 0 ? { text: "", form: "missing" } : { text: String(i % 10), form: "number" }),
];

/** Texts that the kernel takes for values that they are not. */
const TEXTS = ["007", "+1", "1_000", "0x1F", "2.5.1", "2023-02-30", "2023-13-01", "24:61:00", "1,5"];
const ODD = [...TEXTS.map((text): Cell => ({ text, form: "text" })), { text: "-0", form: "number" } satisfies Cell];
const odd = fc.oneof(
  fc.constantFrom(...ODD),
  columnOfCells.chain((cells) => cells),
);

export const largeTexts = fc.record({
  columns: fc.array(fc.nat({ max: PLAIN.length - 1 }), { minLength: 2, maxLength: 6 }),
  rows: fc.integer({ min: 1_500, max: 12_000 }),
  odds: fc.array(fc.record({ row: fc.nat({ max: 12_000 }), column: fc.nat({ max: 5 }), cell: odd }), { maxLength: 3 }),
  drawn: fc.array(fc.nat({ max: 100_000 }), { minLength: 12, maxLength: 12 }),
});

interface Drawn {
  readonly columns: number[];
  readonly rows: number;
  readonly odds: { readonly row: number; readonly column: number; readonly cell: Cell }[];
  readonly drawn: number[];
}

function cellsOf({ columns, rows, odds }: Drawn): Cell[][] {
  const cells = Array.from({ length: rows }, (_, i) => columns.map((column) => PLAIN[column]?.(i) ?? odds[0]?.cell));
  for (const { row, column, cell } of odds) {
    const line = cells[row % rows];
    if (line !== undefined) line[column % columns.length] = cell;
  }
  return cells.map((line) => line.filter((cell) => cell !== undefined));
}

function csvText(names: readonly string[], cells: readonly (readonly Cell[])[], choice: Choice): string {
  const [delimiter, end] = [choice.of([",", ";", "\t"]), choice.of(["\n", "\r\n"])];
  const quotesAll = choice.chance(5);
  const field = (text: string) =>
    text !== "" && (quotesAll || /[",;|\t\n\r]/.test(text) || text !== text.trim())
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  const lines = [names, ...cells.map((line) => line.map(({ text }) => field(text)))];
  return lines.map((line) => line.join(delimiter)).join(end) + (choice.chance(2) ? end : "");
}

export async function playLargeTexts(world: World, drawn: Drawn): Promise<void> {
  const choice = new Choice(drawn.drawn);
  const directory = world.path(choice.of(DIRECTORY_NAMES));
  mkdirSync(directory);
  const names = drawn.columns.map((_, i) => `c${i}`);
  const cells = cellsOf(drawn);
  writeFileSync(join(directory, "0.csv"), csvText(names, cells, choice));
  const session = world.session(choice.of(["roomy", "usual"] as const), false);
  const options = choice.chance(2) ? { overrideNumBlocks: 1 + choice.below(5) } : {};
  const read: Dataset<Any> = session.readCsv(directory, options);
  try {
    const { columns } = await read.schema();
    const rows = await read.takeAll(EXACT);
    if (rows.length !== cells.length) throw new Error(`${cells.length} rows were written, ${rows.length} read`);
    const types = new Map(columns.map(({ name, type }) => [name, type ?? "no type"]));
    const wrong = cells.flatMap((line, at) =>
      line.flatMap((cell, i) => {
        const name = names[i] ?? "";
        const found = wrongWith(cell, rows[at]?.[name] ?? null, types.get(name) ?? "a missing column");
        return found === null ? [] : [`row ${at}, ${name}: ${found}`];
      }),
    );
    if (wrong.length > 0) throw new Error(wrong.slice(0, 20).join("\n"));
    await checkCounts(read, names, cells);
  } catch (error) {
    // A value that does not fit the type found may be refused, where the file is named.
    if (error instanceof SourceError && error.message.includes(".csv")) return;
    const plan = `read ${drawn.rows} rows of columns ${drawn.columns} as csv ${JSON.stringify(options)}`;
    throw new Difference({ plan, odds: JSON.stringify(drawn.odds) }, error);
  }
}

/** As an aggregate over all rows, which is made in parts. */
async function checkCounts(read: Dataset<Any>, names: readonly string[], cells: readonly (readonly Cell[])[]) {
  const found: Readonly<Record<string, unknown>> = await read.agg({
    rows: count(),
    ...Object.fromEntries(
      names.map((name) => [name, sql(`CASE WHEN ${quoted(name)} IS NULL THEN 0 ELSE 1 END`).sum()]),
    ),
  });
  const wanted = names.map((_, i) => cells.filter((line) => line[i]?.form !== "missing").length);
  const got = names.map((name) => Number(found[name]));
  if (Number(found.rows) !== cells.length || wanted.some((each, i) => each !== got[i])) {
    throw new Error(`values counted: ${String(found.rows)}: ${got}; written: ${cells.length}: ${wanted}`);
  }
}
