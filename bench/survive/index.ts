export { SURVIVE_NAMES, survive } from "./main.ts";
