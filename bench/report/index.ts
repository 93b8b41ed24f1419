export { type Facts, facts } from "./facts.ts";
export { judge, type Verdict } from "./judge.ts";
export { median } from "./median.ts";
export { aligned, asMarkdown, asTable } from "./table.ts";
