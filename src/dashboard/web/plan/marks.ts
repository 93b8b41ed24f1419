/** Which operators of a job stand out, in words: many readers cannot tell colours apart. */
import type { OperatorCard } from "../../api.ts";

/** Marks by operator id: "slowest", "fullest", "held back". */
export function marksOf(cards: readonly OperatorCard[]): ReadonlyMap<number, readonly string[]> {
  const marks = new Map<number, string[]>(cards.map(({ id }) => [id, []]));
  const mark = (word: string, by: (card: OperatorCard) => number) => {
    const best = cards.reduce<OperatorCard | null>(
      (most, card) => (most === null || by(card) > by(most) ? card : most),
      null,
    );
    if (best !== null && by(best) > 0 && cards.length > 1) marks.get(best.id)?.push(word);
  };
  mark("slowest", ({ wall }) => wall);
  // By what its tasks added: a peak includes what tasks of other operators left in the worker. A running task has not
  // told that yet, so its present memory counts.
  mark("fullest", ({ addedMemory, memoryNow, running }) =>
    running === 0 ? addedMemory : Math.max(addedMemory, memoryNow / running),
  );
  for (const { id, heldBy, ended } of cards) if (heldBy !== null && !ended) marks.get(id)?.push("held back");
  return marks;
}
