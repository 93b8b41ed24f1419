/**
 * In which way an operator runs that looks at all rows. `moveWay` is the only writer; the table says which moves there
 * are.
 */
import { note, type OperatorState, type State, type Way } from "../state/index.ts";
import { assertMove, type Moves } from "./moves.ts";

const WAY_MOVES: Moves<Way["kind"]> = {
  undecided: {
    kernel: "its task is done",
    waiting: "the kernel has run out of memory for good",
  },
  waiting: {
    asked: "its producers have ended, so that its bytes are known",
  },
  kernel: {},
  asked: {
    exchange: "the program has planned the exchange",
  },
  exchange: {},
};

export function moveWay(state: State, operator: OperatorState, to: Way): void {
  const { spec, job } = operator;
  assertMove(WAY_MOVES, `The way of ${spec.name}`, operator.way.kind, to.kind);
  operator.way = to;
  note(state, { type: "way", job: job.id, operator: spec.id, to: to.kind });
}
