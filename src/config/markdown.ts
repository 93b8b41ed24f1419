/** The table of settings in docs/configuration.md. */
import { SCHEMA } from "./schema.ts";
import { leaves, type Setting, shownDefault } from "./setting.ts";

const HEAD = ["setting", "default", "given as", "meaning"];

export function settingsTable(): string {
  const rows = [HEAD, ...leaves(SCHEMA).map(([path, setting]) => row(path, setting))];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((cells) => (cells[column] ?? "").length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = line(widths.map((width) => "-".repeat(width)));
  const [head = "", ...body] = rows.map(line);
  return `${[head, rule, ...body].join("\n")}\n`;
}

function row(path: string, setting: Setting): string[] {
  const { kind, fallback, about } = setting;
  const fallen = fallback === undefined ? shownDefault(setting) : `\`${shownDefault(setting)}\``;
  return [`\`${path}\``, fallen, `${kind.name}${kind.onlyInCode ? " (in code only)" : ""}`, about];
}
