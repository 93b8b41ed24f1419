/** What waits between operators, and between the last operator and the program. */
import { type Edge, Fifo, type OperatorState, type Piece } from "../state/index.ts";

/** A `consumer` of null stands for the program. */
export function edgeFrom(
  producer: OperatorState,
  consumer: OperatorState | null,
  table = 0,
  isBroadcast = false,
): Edge {
  const queue = new Fifo<Piece>();
  const edge: Edge = { producer, consumer, table, isBroadcast, queue, ended: false, closed: false };
  producer.edges.consumers.push(edge);
  return edge;
}
