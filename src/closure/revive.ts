/** Makes a captured function callable in this process: loads its imports, compiles its source, fills its scopes. */
import { pathToFileURL } from "node:url";
import { deserialize } from "node:v8";
import { SpillwayError } from "../errors/index.ts";
import { compileImporting } from "./importing-script.ts";
import { registerLoaders } from "./loaders.ts";
import { loadModules, requireFrom } from "./modules.ts";
import { PAYLOAD_VERSION, type Payload, type PayloadProgram } from "./payload.ts";
import { type RunningProgram, rebuild } from "./rebuild.ts";
import { rememberProgram } from "./running-programs.ts";
import { pathOf } from "./source-map.ts";
import { type NamedProgram, nameProgram, stackMapper } from "./stack.ts";

export { programNamed, sourceMapOf } from "./running-programs.ts";

interface RevivedFunction {
  /** The function itself. */
  readonly call: (...args: unknown[]) => unknown;
  /** For a class: makes an instance with the captured arguments. */
  readonly construct: (() => unknown) | null;
  /** For a function: the captured arguments. */
  readonly args: readonly unknown[];
  /** A stack trace with only the user's own frames, at the positions in their own source. */
  mapStack(stack: string): string;
}

export async function reviveFunction(payload: Uint8Array): Promise<RevivedFunction> {
  const content = deserialize(payload) as Payload;
  if (content.version !== PAYLOAD_VERSION) {
    throw new SpillwayError(
      `A function was captured in format ${content.version}, and this process reads format ${PAYLOAD_VERSION}: ` +
        "the program and its workers run different versions of spillway.",
    );
  }
  await registerLoaders(content.loaders);
  const modules = await loadModules(content.modules);
  const named = content.programs.map(nameProgram);
  for (const program of named) rememberProgram(program);
  const programs = content.programs.map((program, i) => run(program, named[i] as NamedProgram));
  const { root, constructorArgs } = rebuild(content, modules, programs);
  if (typeof root !== "function") throw new SpillwayError("A captured function did not arrive as a function.");
  return {
    call: root as (...args: unknown[]) => unknown,
    construct: content.isClass ? () => Reflect.construct(root, constructorArgs) : null,
    args: constructorArgs,
    mapStack: stackMapper(named),
  };
}

function run(program: PayloadProgram, { filename }: NamedProgram): RunningProgram {
  type Start = (running: RunningProgram, meta: { meta: object }) => void;
  const start = compileImporting<Start>(program.code, filename);
  const running: RunningProgram = { pieces: [], set: [] };
  start(running, { meta: importMeta(program.url) });
  return running;
}

function importMeta(url: string): object {
  if (!url.startsWith("file:")) return { url };
  const filename = pathOf(url);
  return {
    url,
    filename,
    dirname: filename.slice(0, filename.lastIndexOf("/")) || "/",
    resolve(specifier: string): string {
      if (/^\.{0,2}\/|^[a-z]+:/.test(specifier)) return new URL(specifier, url).href;
      const found = requireFrom(url).resolve(specifier);
      return found.startsWith("/") ? pathToFileURL(found).href : found;
    },
  };
}
