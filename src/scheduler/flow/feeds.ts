/** What a fed task still has to read. */
import type { Piece, TaskState } from "../state/index.ts";

/** The blocks that a fed task has still to read, the next one first. */
export function* stillToRead({ input: { feed } }: TaskState): IterableIterator<Piece> {
  for (let i = feed?.next ?? 0; i < (feed?.queue.length ?? 0); i++) {
    const fedPiece = feed?.queue[i];
    if (fedPiece !== undefined) yield fedPiece.piece;
  }
}
