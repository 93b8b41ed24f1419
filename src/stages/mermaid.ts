/**
 * Stages as a Mermaid flowchart: a node for each stage and each read, and an arrow for each flow of blocks. Special
 * characters of names and paths become character codes, so no text can end a label or have a meaning in Mermaid.
 */
import type { OperatorId } from "../protocol/index.ts";
import { type Flow, flowsOf } from "./boundaries.ts";
import { type Known, nothingKnown, placeText, titleOf } from "./explain.ts";
import { counted, estimateText, figuresText } from "./figures.ts";
import type { Stage, Stages } from "./stage.ts";

const MOST_TEXT = 120;

export function stageChart(stages: Stages, known: Known = nothingKnown): string {
  return [
    "flowchart TD",
    ...stages.stages.flatMap((stage, id) => [...readLines(stage, id, known), `  s${id + 1}${node(stage, id, known)}`]),
    ...stages.stages.flatMap(readArrows),
    ...flowsOf(stages).map((flow) => arrow(flow, stages)),
  ].join("\n");
}

function node(stage: Stage, id: OperatorId, { estimates, ran }: Known): string {
  const lines = [titleOf(stage, id), placeText(stage)];
  const estimate = estimates.stages.get(id);
  const figures = ran.get(id);
  if (estimate !== undefined) lines.push(`estimated ${estimateText(estimate)}`);
  if (figures !== undefined) lines.push(`real ${figuresText(figures)}`);
  return `[${label(lines)}]`;
}

const readsOf = (stage: Stage) => (stage.kind === "tasks" ? stage.reads : []);

function readLines(stage: Stage, id: OperatorId, { estimates }: Known): readonly string[] {
  return readsOf(stage).map((read, i) => {
    const estimate = estimates.reads.get(read);
    const { name, label: what } = read.scan.source;
    const lines = [`${name} ${what}`, ...(estimate === undefined ? [] : [estimateText(estimate)])];
    return `  ${readId(id, i)}[(${label(lines)})]`;
  });
}

function readArrows(stage: Stage, id: OperatorId): readonly string[] {
  const tasks = stage.input.kind === "splits" ? counted(stage.input.splits.length, "task") : "one query";
  return readsOf(stage).map((_, i) => `  ${readId(id, i)} -->|${label([tasks])}| s${id + 1}`);
}

const readId = (id: OperatorId, i: number) => `s${id + 1}r${i + 1}`;

const ARROWS = { blocks: "-->", broadcast: "-.->", partitions: "==>" } as const;

function arrow({ before, after, what }: Flow, { stages }: Stages): string {
  const stage = stages[after];
  const count =
    stage?.input.kind === "fed" && stage.input.gather.kind === "partitions" ? stage.input.gather.count : null;
  const text = what === "partitions" && count !== null ? counted(count, "partition") : what;
  return `  s${before + 1} ${ARROWS[what]}|${label([text])}| s${after + 1}`;
}

function label(lines: readonly string[]): string {
  return `"${lines.map(escaped).join("<br/>")}"`;
}

/** Writes all but letters, digits and harmless characters as `#code;`, which Mermaid shows as the character. */
function escaped(text: string): string {
  const shown = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
  return shown.replace(/[^A-Za-z0-9 ,.()]/gu, (character) => `#${shownCode(character)};`);
}

/** Half of a surrogate pair is not a character. */
function shownCode(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code >= 0xd800 && code <= 0xdfff ? 0xfffd : code;
}
