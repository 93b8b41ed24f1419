/** What a pipeline consists of: what it reads, in which windows, how often, and the steps for each window. */
import { OptionError } from "../../errors/index.ts";
import { type Plan, rewriteUp, scan, shuffle } from "../../plan/index.ts";
import { seeded } from "../consume/shuffler.ts";
import type { Engine } from "../engine.ts";
import { positiveInteger } from "../options.ts";
import { type WindowOptions, type WindowSize, windowSize } from "./window-size.ts";
import { checkPerWindow, windowsOfPass } from "./windows.ts";

export interface Recipe {
  readonly engine: Engine;
  /** What is read, with all operators before `window`. */
  readonly plan: Plan;
  /** Null: a pass over the data is one window. */
  readonly size: WindowSize | null;
  /** Passes over the data in one epoch: more than one if a repeat was repeated. */
  readonly passes: number;
  /** Infinity: without end. */
  readonly epochs: number;
  /** How many epochs came before this recipe's first one: random draws differ from epoch to epoch. */
  readonly before: number;
  /** The steps for each window, in order. */
  readonly steps: readonly WindowStep[];
}

/** Identifies a window: the epoch, and its place in the epoch. */
interface Turn {
  readonly epoch: number;
  readonly window: number;
}

export type WindowStep = (window: Plan, turn: Turn) => Plan;

/** All data as one window. */
export function whole(engine: Engine, plan: Plan): Recipe {
  return { engine, plan, size: null, passes: 1, epochs: 1, before: 0, steps: [] };
}

export function windowed(engine: Engine, plan: Plan, options: WindowOptions): Recipe {
  const size = windowSize(options);
  checkPerWindow(plan);
  return { ...whole(engine, plan), size };
}

/** Each repetition is an epoch; after several calls of `repeat`, an epoch is a repetition of the last call. */
export function repeated(recipe: Recipe, epochs: number | undefined): Recipe {
  if (isEndless(recipe)) {
    throw new OptionError("repeat: this pipeline is already endless and cannot be repeated.");
  }
  const count = epochs === undefined ? Number.POSITIVE_INFINITY : positiveInteger("repeat", "epochs", epochs);
  return { ...recipe, passes: recipe.passes * recipe.epochs, epochs: count };
}

export function isEndless({ epochs }: Recipe): boolean {
  return epochs === Number.POSITIVE_INFINITY;
}

export function withStep(recipe: Recipe, step: WindowStep): Recipe {
  return { ...recipe, steps: [...recipe.steps, step] };
}

/**
 * Stands for a window when a step is built once for all windows, so that functions are captured when they are given.
 */
export const anyWindow: Plan = scan({
  name: "window",
  label: "",
  open: () => Promise.reject(new Error("a window is put here before it is read")),
});

/** A step that was built over `anyWindow`. A shuffle gets an order of its own for each window, drawn from its seed. */
export function overAnyWindow(built: Plan): WindowStep {
  return (window, turn) => {
    const made = rewriteUp(built, (node) => (node === anyWindow ? window : node));
    return made.kind === "shuffle" ? shuffle(made.input, seedOfTurn(made.seed, turn)) : made;
  };
}

function seedOfTurn(seed: number, { epoch, window }: Turn): number {
  const mixed = (a: number, b: number) => Math.floor(seeded(a ^ Math.imul(b + 1, 0x9e3779b9))() * 2 ** 32);
  return mixed(mixed(mixed(seed, 0), epoch), window);
}

/** The windows of an epoch of this recipe, counted from 0. */
export async function* epochWindows(recipe: Recipe, epoch: number): AsyncGenerator<Plan, void, undefined> {
  const { engine, plan, size, passes, before, steps } = recipe;
  const turn = { epoch: before + epoch, window: 0 };
  for (let pass = 0; pass < passes; pass++) {
    for await (const window of windowsOfPass(engine, plan, size)) {
      yield steps.reduce((made, step) => step(made, turn), window);
      turn.window++;
    }
  }
}

export async function* allWindows(recipe: Recipe): AsyncGenerator<Plan, void, undefined> {
  for (let epoch = 0; epoch < recipe.epochs; epoch++) yield* epochWindows(recipe, epoch);
}
