/** Numbers of rows and bytes that planning knows only approximately, for explain. */
type Certainty = "exact" | "about" | "at most";

export interface Amount {
  readonly value: number;
  readonly certainty: Certainty;
}

const LEAST_FIRST: readonly Certainty[] = ["at most", "about", "exact"];

export const exactly = (value: number): Amount => ({ value, certainty: "exact" });
export const about = (value: number): Amount => ({ value, certainty: "about" });
export const mostly = (value: number): Amount => ({ value, certainty: "at most" });

/** Some of the rows, an unknown number. */
export function atMost(amount: Amount | null): Amount | null {
  return amount === null ? null : mostly(amount.value);
}

/** A part of the rows, assuming that all rows are similar. */
export function share(amount: Amount | null, part: number): Amount | null {
  if (amount === null || part === 1) return amount;
  return { value: amount.value * part, certainty: amount.certainty === "exact" ? "about" : amount.certainty };
}

/** Null if one of them is unknown. */
export function total(amounts: readonly (Amount | null)[]): Amount | null {
  const known = amounts.filter((amount) => amount !== null);
  if (known.length < amounts.length) return null;
  const value = known.reduce((sum, amount) => sum + amount.value, 0);
  return { value, certainty: LEAST_FIRST.find((each) => known.some(({ certainty }) => certainty === each)) ?? "exact" };
}

export function amountText({ value, certainty }: Amount, format: (value: number) => string): string {
  return `${certainty === "exact" ? "" : `${certainty} `}${format(value)}`;
}
