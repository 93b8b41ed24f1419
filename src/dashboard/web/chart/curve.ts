/** How a chart shows one column of a series. */
import { token } from "../theme.ts";

export interface Curve {
  /** Name of the series' column. */
  readonly of: string;
  readonly label: string;
  /** Name of a CSS custom property, or a colour. */
  readonly colour: string;
  /** True for an area stacked on the areas before it; otherwise the column is a line. */
  readonly isArea?: boolean;
  readonly isDashed?: boolean;
  /** True for a count, which keeps its value until it changes. */
  readonly isStepped?: boolean;
}

export function colourOf(colour: string): string {
  return colour.startsWith("#") ? colour : token(colour);
}
