/** The words of notices: what the user is told while work goes on. What they are about is in src/protocol. */
export { noticeText, TWO_CAUSES } from "./text.ts";
