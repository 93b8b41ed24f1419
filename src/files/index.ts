export { makeDirectory } from "./make-directory.ts";
