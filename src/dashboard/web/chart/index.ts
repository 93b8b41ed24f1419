export type { Curve } from "./curve.ts";
export { SeriesChart } from "./series-chart.tsx";
