/** What everything in the simulated world has in common: chance, time, the store's memory, the scheduler's ear. */
import type { Event } from "../../src/scheduler/index.ts";
import type { Agenda } from "./agenda.ts";
import type { SimulatedArena } from "./arena.ts";
import type { Chance } from "./chance.ts";
import type { Dangers } from "./means.ts";
import type { MemoryQuestions } from "./questions.ts";

export interface Surroundings {
  readonly chance: Chance;
  readonly dangers: Dangers;
  readonly agenda: Agenda;
  readonly arena: SimulatedArena;
  readonly questions: MemoryQuestions;
  tell(event: Event): void;
  /** A question of the program with its number; `answered` is called with the answer. */
  askedByProgram(answered: () => void): number;
}

/** Of a function that waits for somebody outside. */
export function longDelay(chance: Chance): number {
  return chance.between(60_000, 600_000);
}

/** Of most steps short, of some long. */
export function delay(chance: Chance): number {
  return chance.happens(0.1) ? chance.between(10, 300) : chance.between(1, 10);
}
