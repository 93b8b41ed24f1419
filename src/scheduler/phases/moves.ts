/**
 * A table of the moves between the phases of a thing. A move that the table does not have is a fault of the scheduler.
 */

/** By phase: the phases that may follow it, and what makes it so. */
export type Moves<Phase extends string> = Readonly<Record<Phase, Readonly<Partial<Record<Phase, string>>>>>;

export function assertMove<Phase extends string>(moves: Moves<Phase>, what: string, from: Phase, to: Phase): void {
  if (moves[from][to] === undefined) throw new Error(`${what} cannot move from ${from} to ${to}.`);
}
