/**
 * Moves a sample by fraction into the reader, where a row is identified by its place, so that the choice does not
 * depend on how the source was cut. Such a sample is a condition on the place alone, so filters and computed columns do
 * not affect it.
 */
import { type Plan, rewriteUp, withInputs } from "../plan.ts";
import type { RowSample } from "../source.ts";

export function pushSamples(plan: Plan): Plan {
  return rewriteUp(plan, (node) => {
    if (node.kind !== "sample" || node.size.kind !== "fraction") return node;
    return sink(node.input, { fraction: node.size.fraction, seed: node.seed }) ?? node;
  });
}

function sink(plan: Plan, sample: RowSample): Plan | null {
  switch (plan.kind) {
    case "scan":
      return plan.open?.samples === true ? Object.freeze({ ...plan, samples: [...plan.samples, sample] }) : null;
    case "project":
    case "filter":
    case "drop":
    case "rename": {
      const input = sink(plan.input, sample);
      return input === null ? null : withInputs(plan, [input]);
    }
    default:
      return null;
  }
}
