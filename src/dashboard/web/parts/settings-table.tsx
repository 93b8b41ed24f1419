/** Settings with their values and where each value came from. */
import type { SettingRow } from "../../api.ts";
import { short } from "../format.ts";
import { type Column, DataTable } from "./data-table.tsx";

const COLUMNS: readonly Column<SettingRow>[] = [
  { name: "Setting", isHeading: true, by: ({ path }) => path, cell: ({ path }) => <code>{path}</code> },
  { name: "Value", class: "value", by: ({ value }) => value, cell: ({ value }) => <bdi>{short(value, 400)}</bdi> },
  { name: "From", by: ({ from }) => from, cell: ({ from }) => short(from, 200) },
];

interface SettingsTableProps {
  readonly label: string;
  readonly rows: readonly SettingRow[];
}

export function SettingsTable({ label, rows }: SettingsTableProps) {
  return <DataTable label={label} rows={rows} columns={COLUMNS} id={({ path }) => path} first={400} />;
}
