/**
 * CSV and JSON files as others write them: a value is read as it was written, or refused by an error that names its
 * file.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { type Dataset, SourceError } from "spillway";
import { EXACT } from "../arrow/random-columns.ts";
import { type Any, Choice } from "../end-to-end/differential/step.ts";
import { type Cell, columnOfCells, wrongWith } from "./cells.ts";
import { Difference } from "./difference.ts";
import { DIRECTORY_NAMES } from "./sources.ts";
import type { World } from "./world.ts";

type File = readonly (readonly Cell[])[];

const NAMES = ["id", "name", "when", "odd name"];

/** Several files of the same columns. */
const filesOfCells = fc.array(columnOfCells, { minLength: 1, maxLength: 4 }).chain((columns) => {
  const rows = fc.array(fc.tuple(...columns), { minLength: 1, maxLength: 6 });
  return fc.array(rows, { minLength: 1, maxLength: 3 });
});

export const texts = fc.tuple(
  filesOfCells,
  fc.array(fc.nat({ max: 100_000 }), { minLength: 12, maxLength: 12 }),
  fc.constantFrom("csv", "json"),
);

function csvText(rows: File, choice: Choice): string {
  const [delimiter, end] = [choice.of([",", ";", "|", "\t"]), choice.of(["\n", "\r\n"])];
  const quoteAll = choice.chance(3);
  const field = (text: string) =>
    text !== "" && (quoteAll || /[",;|\t\n\r]/.test(text) || text !== text.trim())
      ? `"${text.replaceAll('"', '""')}"`
      : text;
  const lines = [NAMES.slice(0, rows[0]?.length), ...rows.map((row) => row.map(({ text }) => field(text)))];
  return lines.map((line) => line.join(delimiter) + end).join("");
}

function jsonText(rows: File, choice: Choice): string {
  const value = ({ text, form }: Cell) => {
    if (form === "missing") return "null";
    return form === "number" || form === "boolean" ? text : JSON.stringify(text);
  };
  const dropsNulls = choice.chance(2);
  const lines = rows.map((row) => {
    const entries = row.flatMap((cell, i) =>
      dropsNulls && cell.form === "missing" ? [] : [`${JSON.stringify(NAMES[i])}: ${value(cell)}`],
    );
    return `{${entries.join(", ")}}`;
  });
  return choice.chance(3) ? `[${lines.join(",\n")}]` : lines.map((line) => `${line}\n`).join("");
}

type Drawn = [readonly File[], number[], "csv" | "json"];

export async function playTexts(world: World, [files, drawn, format]: Drawn): Promise<void> {
  const directory = world.path(new Choice(drawn).of(DIRECTORY_NAMES));
  mkdirSync(directory);
  const contents = files.map((rows) => (format === "csv" ? csvText : jsonText)(rows, new Choice(drawn)));
  contents.forEach((text, i) => {
    writeFileSync(join(directory, `${i}.${format}`), text);
  });
  const session = world.session("usual", false);
  const options = (drawn[0] ?? 0) % 2 === 0 ? {} : { overrideNumBlocks: 1 + ((drawn[0] ?? 0) % 7) };
  const read: Dataset<Any> =
    format === "csv" ? session.readCsv(directory, options) : session.readJson(directory, options);
  const cells = files.flat();
  try {
    const { columns } = await read.schema();
    const rows = await read.takeAll(EXACT);
    if (rows.length !== cells.length) throw new Error(`${cells.length} rows were written, ${rows.length} read`);
    const wrong = cells.flatMap((row, at) =>
      row.flatMap((cell, i) => {
        const name = NAMES[i] ?? "";
        const type = columns.find((column) => column.name === name)?.type ?? "a missing column";
        return wrongWith(cell, rows[at]?.[name] ?? null, type) ?? [];
      }),
    );
    if (wrong.length > 0) throw new Error(wrong.join("\n"));
  } catch (error) {
    // A value that does not fit the type found may be refused, where the file is named.
    if (error instanceof SourceError && error.message.includes(`.${format}`)) return;
    throw new Difference(
      { plan: `read ${format} ${JSON.stringify(options)}`, files: `\n${contents.join("\n---\n")}` },
      error,
    );
  }
}
