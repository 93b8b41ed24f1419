/** CSV text: its records with their lines, and the delimiter and quotes that a file is written with. */
export { CutStates, canBeCut } from "./cut-states.ts";
export { type Dialect, type FoundDialect, findDialect, type GivenDialect } from "./dialect.ts";
export { MISFIT, type Misfit } from "./misfit.ts";
export { isProvable, LONGEST_RECORD, RecordProver } from "./proof/prover.ts";
export { type CsvRecord, RecordScanner } from "./records.ts";
