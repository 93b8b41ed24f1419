/**
 * Bundles the dashboard's pages. The package contains everything they need, under names that change with the content.
 */
import { join } from "node:path";

export async function buildPages(root, outDir) {
  const { build } = await import("vite");
  const { NODE_ENV } = process.env;
  await build({
    root: join(root, "src/dashboard/web"),
    base: "./",
    configFile: false,
    logLevel: "warn",
    build: {
      outDir,
      emptyOutDir: true,
      target: "es2022",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1000,
    },
  });
  // Vite leaves "production" there, with which a later `npm ci` installs no development dependencies.
  if (NODE_ENV === undefined) delete process.env.NODE_ENV;
  else process.env.NODE_ENV = NODE_ENV;
}
