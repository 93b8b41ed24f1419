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

/** Whoever would have read the output of one operator, of which there is none yet, reads that of the other. */
export function moveConsumers(from: OperatorState, to: OperatorState): void {
  for (const edge of from.edges.consumers.splice(0)) {
    const { consumer, table, isBroadcast } = edge;
    const instead = edgeFrom(to, consumer, table, isBroadcast);
    if (consumer === null) continue;
    const inputs = isBroadcast ? consumer.edges.broadcasts : consumer.edges.inputs;
    inputs.splice(inputs.indexOf(edge), 1, instead);
  }
}
