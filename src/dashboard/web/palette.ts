/**
 * One colour per operator, the same on every page. Blue, orange, red and grey are reserved for states of memory and for
 * disk I/O. Neighbours in a plan get very different colours.
 */
const OPERATOR_COLOURS = [
  "#0f9080",
  "#8257d6",
  "#5b9a2b",
  "#c2479e",
  "#1593ba",
  "#9a6b3f",
  "#4f5fd0",
  "#87891c",
  "#b0567f",
  "#5f7d95",
];

/** `key` is `<job>/<operator>`. */
export function operatorColour(key: string): string {
  const [job = "", operator = ""] = key.split("/");
  const shift = Number(/\d+/.exec(job)?.[0] ?? 0) * 3;
  const index = (Number(operator) + shift) % OPERATOR_COLOURS.length;
  return OPERATOR_COLOURS[Number.isNaN(index) ? 0 : index] ?? "#5f7d95";
}
