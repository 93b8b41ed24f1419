// The rows of these programs: 200 bytes of Arrow each, two numbers and a text.
const ROW_BYTES = 200;
const TEXT_LENGTH = 180;

export function rowsOf(bytes) {
  return Math.round(bytes / ROW_BYTES);
}

export function wide(row) {
  return { id: row.id, half: row.id / 2, text: `row ${row.id} `.padEnd(TEXT_LENGTH, "spillway ") };
}
