/** What the policies see of an operator whose next task could start. */
import { nextIndex } from "../flow/index.ts";
import { hasMemory, isItsTurn } from "../memory/index.ts";
import { isOnTrial } from "../needs/index.ts";
import type { StartView } from "../policies/index.ts";
import { isFree } from "../resources/index.ts";
import type { OperatorState, State } from "../state/index.ts";
import { hasRoomToStart } from "./room.ts";
import { isHeadTask, View } from "./view.ts";

/** `waiting`: whether the cores of tasks that wait for room count as in use (claims.ts). */
export function startViewOf(state: State, operator: OperatorState, waiting: "count" | "overlook" = "count"): StartView {
  return new Starting(state, operator, nextIndex(operator), waiting);
}

class Starting extends View implements StartView {
  constructor(
    state: State,
    operator: OperatorState,
    private readonly index: number,
    private readonly waiting: "count" | "overlook",
  ) {
    super(state, operator, isHeadTask(operator, index));
  }

  get hasRoom(): boolean {
    return hasRoomToStart(this.state, this.operator, this.index);
  }

  get hasResources(): boolean {
    return isFree(this.state, this.operator, this.waiting);
  }

  get isOnTrial(): boolean {
    return isOnTrial(this.operator);
  }

  get hasMemory(): boolean {
    return hasMemory(this.state, this.operator);
  }

  get isItsTurn(): boolean {
    return isItsTurn(this.state, this.operator);
  }
}
