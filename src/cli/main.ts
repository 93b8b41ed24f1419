#!/usr/bin/env node
/** The command line. `--version` is answered without loading anything else. */
import { version } from "./version.ts";

const words = process.argv.slice(2);

// With `spillway sessions | head`, the reader may close the pipe early. That is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});

if (words.length === 1 && /^(--version|-v|version)$/.test(words[0] ?? "")) {
  process.stdout.write(`spillway ${version()}\n`);
} else {
  const { main } = await import("./program.ts");
  await main(words);
}
