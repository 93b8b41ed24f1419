/** Many small files as one file for the kernel, and the content of their footers. */
export { footersOf } from "./footers.ts";
export { JoinedFile } from "./joined-file.ts";
export { WholeFiles } from "./whole-files.ts";
