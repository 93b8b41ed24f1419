/**
 * Draws the task stream: a row per lane, a rectangle per span, and marks for how the tasks ended. Tooltips are drawn
 * elsewhere.
 */
import type { SpanKind, TaskLane, TaskStream } from "../../api.ts";
import { duration } from "../format.ts";
import { operatorColour } from "../palette.ts";
import { token } from "../theme.ts";
import type { View } from "./view.ts";

export const GUTTER = 76;
const AXIS = 22;
const TALLEST = 20;
const LOWEST = 4;

interface Picture {
  readonly stream: TaskStream;
  readonly view: View;
  readonly width: number;
  /** The lane selected with the keyboard. */
  readonly chosen: number | null;
}

export function laneHeight(lanes: number): number {
  return Math.max(LOWEST, Math.min(TALLEST, Math.floor(420 / Math.max(1, lanes))));
}

export function heightOf(lanes: number): number {
  return Math.max(1, lanes) * laneHeight(lanes) + AXIS;
}

interface Colours {
  readonly text: string;
  readonly muted: string;
  readonly grid: string;
  readonly row: string;
  readonly panel: string;
  readonly disk: string;
  readonly restore: string;
  readonly transfer: string;
  readonly killed: string;
  readonly focus: string;
}

function streamColours(): Colours {
  return {
    text: token("text"),
    muted: token("muted"),
    grid: token("grid"),
    row: token("row"),
    panel: token("panel"),
    disk: token("orange-1"),
    restore: token("orange-2"),
    transfer: token("grey-1"),
    killed: token("red-1"),
    focus: token("accent"),
  };
}

export function paint(canvas: HTMLCanvasElement, picture: Picture): void {
  const { stream, width, view } = picture;
  const height = heightOf(stream.lanes.length);
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const colours = streamColours();
  const rowHeight = laneHeight(stream.lanes.length);
  paintAxis(context, view, width, height, colours);
  stream.lanes.forEach((lane, index) => {
    const top = index * rowHeight;
    paintLane(context, lane, top, rowHeight, picture, colours);
    paintLabel(context, lane.name, top, rowHeight, index, stream.lanes.length, colours);
  });
  if (picture.chosen !== null) {
    context.strokeStyle = colours.focus;
    context.lineWidth = 2;
    context.strokeRect(1, picture.chosen * rowHeight + 1, width - 2, rowHeight - 2);
  }
}

function paintLabel(
  context: CanvasRenderingContext2D,
  name: string,
  top: number,
  height: number,
  index: number,
  lanes: number,
  colours: Colours,
): void {
  const every = Math.ceil(12 / height);
  if (index % every !== 0 && lanes > 1) return;
  context.fillStyle = colours.muted;
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillText(
    name.length > 12 ? `${name.slice(0, 11)}…` : name,
    GUTTER - 8,
    top + Math.max(height, 8) / 2,
    GUTTER - 10,
  );
}

function paintLane(
  context: CanvasRenderingContext2D,
  lane: TaskLane,
  top: number,
  height: number,
  { stream, view, width }: Picture,
  colours: Colours,
): void {
  const gap = height > 8 ? 1 : 0.5;
  const perPixel = (width - GUTTER) / Math.max(1e-9, view.to - view.from);
  context.fillStyle = colours.row;
  context.fillRect(GUTTER, top + gap, width - GUTTER, height - gap * 2);
  for (const [start, end, colour, kind] of lane.spans) {
    if (end < view.from || start > view.to) continue;
    // Rounds to whole pixels: a thin rectangle between two pixels would be drawn in a paler colour.
    const left = Math.round(Math.max(GUTTER, GUTTER + (start - view.from) * perPixel));
    const right = Math.round(Math.min(width, GUTTER + (end - view.from) * perPixel));
    const wide = Math.max(1, right - left - (right - left > 3 ? 1 : 0));
    context.fillStyle = fillOf(kind, colour, stream, colours);
    context.fillRect(left, top + gap, wide, height - gap * 2);
    if (kind !== "task") paintMark(context, kind, left, top + gap, wide, height - gap * 2, colours);
  }
}

function fillOf(kind: SpanKind, colour: number, stream: TaskStream, colours: Colours): string {
  if (kind === "spill") return colours.disk;
  if (kind === "restore") return colours.restore;
  if (kind === "transfer") return colours.transfer;
  if (kind === "killed") return colours.killed;
  return colour < 0 ? colours.transfer : operatorColour(stream.operators[colour]?.key ?? "");
}

/**
 * A cross for killed, a red edge for failed, a light stripe for run again. The marks can be told apart without colours.
 */
function paintMark(
  context: CanvasRenderingContext2D,
  kind: SpanKind,
  left: number,
  top: number,
  width: number,
  height: number,
  colours: Colours,
): void {
  if (kind === "failed") {
    context.fillStyle = colours.killed;
    context.fillRect(left + Math.max(0, width - 3), top, Math.min(3, width), height);
  }
  if (kind === "retried") {
    context.fillStyle = colours.panel;
    context.fillRect(left, top + height / 2 - 1, width, Math.min(2, height / 3));
  }
  if (kind === "killed" && height >= 6) {
    const middle = left + width / 2;
    const half = Math.min(4, height / 2 - 1);
    context.strokeStyle = width > 8 ? "#fff" : colours.text;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(middle - half, top + height / 2 - half);
    context.lineTo(middle + half, top + height / 2 + half);
    context.moveTo(middle + half, top + height / 2 - half);
    context.lineTo(middle - half, top + height / 2 + half);
    context.stroke();
  }
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** Labels times since the start of the session, about 90 pixels apart. */
function paintAxis(
  context: CanvasRenderingContext2D,
  view: View,
  width: number,
  height: number,
  colours: Colours,
): void {
  const span = view.to - view.from;
  const least = (span / Math.max(1, width - GUTTER)) * 90;
  const step = niceStep(least);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "alphabetic";
  context.textAlign = "center";
  for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
    const x = Math.round(GUTTER + ((time - view.from) / span) * (width - GUTTER)) + 0.5;
    context.fillStyle = colours.grid;
    context.fillRect(x, 0, 1, height - AXIS + 4);
    if (x > width - 20) continue;
    context.fillStyle = colours.muted;
    context.fillText(duration(time), Math.max(GUTTER + 12, x), height - 6);
  }
}

function niceStep(least: number): number {
  for (const unit of [1, 1000]) {
    const step = STEPS.find((times) => times * unit >= least);
    if (step !== undefined) return step * unit;
  }
  return Math.ceil(least / 600_000) * 600_000;
}
