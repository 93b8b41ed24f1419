/** A flame graph as a single HTML file. The file loads nothing from elsewhere, and its policy forbids that. */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ownFolder } from "../place/index.ts";
import { type FlameProfile, flameProfile } from "./flame.ts";

const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

/** `script` is replaced in tests, which run from source. */
export function flameHtml(profile: FlameProfile, script = drawingScript()): string {
  const title = escaped(`Heap profile: ${profile.title}`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>body { margin: 16px; font: 14px/1.5 system-ui, sans-serif; } h1 { font-size: 18px; margin: 0 0 12px; }
@media (prefers-color-scheme: dark) { body { background: #171b22; color: #e6eaf0; } }</style>
</head>
<body>
<main>
<h1>${title}</h1>
<div id="graph"><noscript>The graph is drawn by a script in this file.</noscript></div>
</main>
<script type="application/json" id="profile">${inScript(JSON.stringify(profile))}</script>
<script>${script.replaceAll("</script", "<\\/script")}</script>
</body>
</html>
`;
}

/** The build makes this script from the module that the dashboard uses. */
function drawingScript(): string {
  return readFileSync(fileURLToPath(new URL("profile/flame-page.js", ownFolder)), "utf8");
}

/** Writes the flame graph of a `.heapprofile` and returns the path of the HTML file. */
export function flamegraph(file: string, out = `${file.replace(/\.heapprofile$/, "")}.html`): string {
  writeFileSync(out, flameHtml(flameProfile(file)), { mode: 0o600 });
  return out;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** Escapes the JSON so that no text in a profile can end the script element. */
function inScript(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}
