/** Turns a small text file that is not UTF-8 into an error with its line: the kernel only names the file. */
import { KernelError } from "../errors/index.ts";
import { checkUtf8 } from "../text/index.ts";

const FOUND = /read_text: could not read content of file '(.*)' as valid UTF-8/;

export async function badTextError(error: unknown): Promise<unknown> {
  const path = error instanceof KernelError ? FOUND.exec(error.message)?.[1] : undefined;
  if (path === undefined) return null;
  try {
    await checkUtf8(path);
    return null;
  } catch (found) {
    return found;
  }
}
