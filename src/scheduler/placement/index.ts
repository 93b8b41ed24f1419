export { dispatch } from "./dispatch.ts";
export { noteHeldBack } from "./held.ts";
export { askForProgram, askForRoom, grantRoom, programRangeUsed } from "./room.ts";
export { programIsActive, resolveStall, stallDeadline } from "./stall.ts";
export { endStandingBack } from "./standing-back.ts";
export { startWide, wideBegins } from "./wide.ts";
export { yieldDeadline } from "./wide-turn.ts";
