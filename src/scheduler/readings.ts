/** A reading of memory comes in: what every worker has by kind, and what each job has seen at most. What follows is the ladder's. */
import { kindsOf } from "../memory/index.ts";
import type { Bytes, ProcessMemory } from "../protocol/index.ts";
import type { Event } from "./events.ts";
import { stand, useOf } from "./ladder.ts";
import { isHeavy, noteGrowth } from "./recycle.ts";
import { spillUnderPressure } from "./spill.ts";
import type { State } from "./state.ts";
import { workerOf } from "./workers.ts";

export function memoryRead(state: State, event: Extract<Event, { type: "memory" }>): void {
  state.processes = { supervisor: event.supervisor, program: event.program };
  for (const reading of event.workers) {
    const worker = workerOf(state, reading.worker);
    if (worker === undefined) continue;
    worker.reading = reading;
    worker.readAt = state.now;
    worker.kinds = kindsOf(useOf(state, worker), worker.unmanaged, state.now);
    noteGrowth(worker);
  }
  for (const worker of state.workers.values()) {
    stand(state, worker);
    if (isHeavy(state, worker)) state.heavy.add(worker);
    else state.heavy.delete(worker);
  }
  spillUnderPressure(state);
  for (const job of state.jobs.values()) {
    job.peakWorkerMemory = Math.max(job.peakWorkerMemory, ...event.workers.map(resident));
    job.peakSupervisorMemory = Math.max(job.peakSupervisorMemory, resident(event.supervisor));
    job.peakProgramMemory = Math.max(job.peakProgramMemory, resident(event.program));
  }
}

function resident(memory: ProcessMemory): Bytes {
  return memory.private + memory.shared;
}
