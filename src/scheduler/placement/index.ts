export { dispatch } from "./dispatch.ts";
export { noteHeldBack, passTime } from "./held.ts";
export { askForProgram, askForRoom, grantRoom } from "./room.ts";
export { endStandingBack, resolveStall, stallDeadline } from "./stall.ts";
export { startWide } from "./wide.ts";
export { yieldDeadline } from "./wide-turn.ts";
