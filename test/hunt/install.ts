/** The Python of the hunt's peers, in `.hunt/`. */
import { fileURLToPath } from "node:url";
import { ownPython } from "../../bench/harness/python.ts";

const VENV = fileURLToPath(new URL("../../.hunt/venv", import.meta.url));
const REQUIREMENTS = fileURLToPath(new URL("requirements.txt", import.meta.url));

/** Null where it cannot be had; why is said. */
export async function peersPython(say: (line: string) => void): Promise<string | null> {
  const found = await ownPython({ venv: VENV, requirements: REQUIREMENTS }, say);
  if (found.kind === "ready") return found.python;
  say(`Without pyarrow and Polars: ${found.reason}`);
  return null;
}
