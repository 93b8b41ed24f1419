export { type Facts, facts } from "./facts.ts";
export { judge, type Verdict } from "./judge.ts";
export { asMarkdown, asTable } from "./table.ts";
