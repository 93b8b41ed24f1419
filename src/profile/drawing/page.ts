/** The script of the HTML file: draws the profile that the page contains as JSON. */
import { drawFlame, FLAME_CSS } from "./flame-draw.ts";

const text = document.getElementById("profile")?.textContent;
const graph = document.getElementById("graph");
if (text && graph !== null) {
  const style = document.createElement("style");
  style.textContent = FLAME_CSS;
  document.head.append(style);
  drawFlame(graph, JSON.parse(text));
}
