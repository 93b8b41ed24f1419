/** The sizes of TPC-H's tables at a scale factor; 1 is about 1 GB of plain text, 6 M line items. */

export interface TpchSize {
  readonly suppliers: number;
  readonly customers: number;
  readonly parts: number;
  readonly orders: number;
}

/** A part has four different suppliers, so there are at least ten suppliers at any scale. */
export function tpchSize(scale: number): TpchSize {
  const rows = (atScaleOne: number): number => Math.max(10, Math.round(atScaleOne * scale));
  return { suppliers: rows(10_000), customers: rows(150_000), parts: rows(200_000), orders: rows(1_500_000) };
}

/** The scale with about this many line items. Below a thousandth all tables are too small. */
export function tpchScale(lineitems: number): number {
  return Math.max(0.001, lineitems / 6e6);
}
