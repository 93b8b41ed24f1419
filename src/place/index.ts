/**
 * Where this package is. The supervisor and the workers are separate programs next to this code, which a bundle would
 * leave out: an error here says so.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { OptionError } from "../errors/index.ts";

/** For `createRequire` and similar. A CommonJS bundle has none. */
export const ownUrl: string = known(import.meta.url);

/** The package's folder, one level above each of our files, built or source. */
export const ownFolder = new URL("../", ownUrl);

export function supervisorProgram(): string {
  const program = fileURLToPath(new URL("supervisor/main.js", ownFolder));
  if (!existsSync(program)) throw bundled(`into ${fileURLToPath(ownUrl)}`);
  return program;
}

function known(url: string | undefined): string {
  if (url === undefined) throw bundled("into a program");
  return url;
}

function bundled(where: string): OptionError {
  return new OptionError(
    `spillway was bundled ${where}, without the programs of its supervisor and workers. Mark spillway external, so that it is loaded from ` +
      'node_modules: --external:spillway for esbuild, external: ["spillway"] for Rollup, ssr: { external: ["spillway"] } for Vite, ' +
      'externals: ["spillway"] for webpack, serverExternalPackages: ["spillway"] for Next.js.',
  );
}
