/**
 * A table that is sorted by its headings and shows its first rows until the reader asks for more. A cell may be
 * anything; rows are sorted by a number or a text.
 */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { count } from "../format.ts";

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The value to sort by. A column without it cannot be sorted. */
  readonly by?: (row: Row) => number | string;
  readonly isNumber?: boolean;
  /** Marks the cells that are the headings of their rows. */
  readonly isHeading?: boolean;
  readonly class?: string;
}

interface DataTableProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly columns: readonly Column<Row>[];
  readonly id: (row: Row) => string | number;
  /** Name of the column that the table is first sorted by; − before the name puts the largest first. */
  readonly sorted?: string;
  readonly first?: number;
  readonly rowClass?: (row: Row) => string;
}

export function DataTable<Row>({ label, rows, columns, id, sorted = "", first = 50, rowClass }: DataTableProps<Row>) {
  const [order, setOrder] = useState(sorted);
  const [most, setMost] = useState(first);
  const shown = inOrder(rows, columns, order).slice(0, most);
  return (
    <div class="table-box" role="group" aria-label={label} tabIndex={0}>
      <table class="data">
        <caption class="sr">{label}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.name} column={column} order={order} onOrder={setOrder} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={id(row)} class={rowClass?.(row) ?? ""}>
              {columns.map((column) => cellOf(column, row))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > shown.length && (
        <p class="more">
          {count(shown.length)} of {count(rows.length)} are shown.{" "}
          <button type="button" onClick={() => setMost(most * 4)}>
            Show more
          </button>
        </p>
      )}
    </div>
  );
}

function cellOf<Row>(column: Column<Row>, row: Row) {
  const name = `${column.isNumber === true ? "number" : ""} ${column.class ?? ""}`.trim();
  if (column.isHeading === true) {
    return (
      <th key={column.name} scope="row" class={name}>
        {column.cell(row)}
      </th>
    );
  }
  return (
    <td key={column.name} class={name}>
      {column.cell(row)}
    </td>
  );
}

interface HeadingProps<Row> {
  readonly column: Column<Row>;
  readonly order: string;
  onOrder(order: string): void;
}

function Heading<Row>({ column, order, onOrder }: HeadingProps<Row>) {
  const { name, isNumber = false } = column;
  const isUp = order === name;
  const isDown = order === `−${name}`;
  if (column.by === undefined) {
    return (
      <th scope="col" class={isNumber ? "number" : ""}>
        {name}
      </th>
    );
  }
  const next = isDown || (!isUp && !isNumber) ? name : `−${name}`;
  return (
    <th scope="col" class={isNumber ? "number" : ""} aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}>
      <button type="button" class="sort" onClick={() => onOrder(next)}>
        {name}
        <span aria-hidden="true">{isUp ? " ▲" : isDown ? " ▼" : ""}</span>
      </button>
    </th>
  );
}

function inOrder<Row>(rows: readonly Row[], columns: readonly Column<Row>[], order: string): readonly Row[] {
  const by = columns.find(({ name }) => order === name || order === `−${name}`)?.by;
  if (by === undefined) return rows;
  const sign = order.startsWith("−") ? -1 : 1;
  return [...rows].sort((a, b) => {
    const left = by(a);
    const right = by(b);
    return sign * (typeof left === "string" ? left.localeCompare(String(right)) : left - Number(right));
  });
}
