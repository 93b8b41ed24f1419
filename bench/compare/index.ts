export { compare } from "./main.ts";
