/** Workers that ended unasked and tasks that ran out of memory, with all that is known of each moment. */
import { basename } from "node:path";
import { type Death, deathsOf } from "../../report/index.ts";
import type { DeathCard, ProfileFile } from "../api.ts";
import type { SessionModel } from "../model/index.ts";

/** Deaths are looked for among this many of the newest events. */
const MOST_EVENTS = 5_000;
const MOST = 500;

/** The newest first. `profiles` must also have the newest first. */
export function deathCards(model: SessionModel, profiles: readonly ProfileFile[]): readonly DeathCard[] {
  const state = model.now;
  const deaths = deathsOf({ ...state, happened: state.happened.slice(-MOST_EVENTS) });
  return deaths
    .slice(-MOST)
    .reverse()
    .map((death) => cardOf(death, profiles));
}

function cardOf(death: Death, profiles: readonly ProfileFile[]): DeathCard {
  const { number: id, at, gone, shortage, isMemory, task, operator, files } = death;
  const worker = gone?.worker ?? shortage?.worker ?? null;
  const node = gone?.node ?? null;
  return {
    ...{ id, at, worker, pid: gone?.pid ?? shortage?.pid ?? null, isMemory, task, operator, files },
    reason: gone?.reason ?? shortage?.reason ?? "",
    exitCode: gone?.exitCode ?? null,
    signal: gone?.signal ?? null,
    why: gone?.endedFor ?? null,
    limit: gone?.limit ?? shortage?.limit ?? null,
    curve: gone?.curve ?? [],
    nodeCurve: gone?.nodeCurve ?? [],
    node: node === null ? null : { used: node.used, total: node.total, threshold: node.threshold },
    users: node?.users ?? [],
    beside: (gone?.beside ?? []).map((one) => ({ worker: one.worker, operator: one.operator, private: one.private })),
    attempts: death.attempts.map(({ number, endedAt, text }) => ({
      at: endedAt ?? at,
      text: `Attempt ${number}: ${text}`,
    })),
    remedies: death.remedies,
    log: gone === null ? (worker === null ? null : `worker-${worker}.log`) : basename(gone.log),
    profile: profiles.find((profile) => profile.worker === worker)?.name ?? null,
  };
}
