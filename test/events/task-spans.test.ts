/** Spans of tasks: one for each run, in the lane of its worker's slot, with what became of it. */
import { expect, test } from "vitest";
import { apply, emptyState, Lanes, snapshotOf, stateOf, type TaskSpan, TaskSpans } from "../../src/events/index.ts";
import type { RecordedEvent, WorkerId } from "../../src/protocol/index.ts";
import { ScriptedSession, splits } from "../scheduler/scripted-session.ts";
import { COUNT } from "../scheduler/starved.ts";
import { job, tasks } from "../simulate/plans.ts";

const ERROR = { name: "KernelMemoryError", message: "too much", stack: null, fields: {} };

interface Drawn {
  readonly told: TaskSpan[];
  readonly spans: TaskSpans;
  state: ReturnType<typeof emptyState>;
}

function drawn(events: readonly RecordedEvent[]): Drawn {
  const told: TaskSpan[] = [];
  const drawing: Drawn = { told, spans: new TaskSpans(new Lanes(), (span) => told.push(span)), state: emptyState() };
  goOn(drawing, events);
  return drawing;
}

function goOn({ spans, state }: Drawn, events: readonly RecordedEvent[]): void {
  for (const event of events) {
    spans.before(event, state);
    apply(state, event);
  }
}

const brief = ({ task, lane, attempt, from, to, outcome }: TaskSpan) => [task, lane.name, attempt, from, to, outcome];

function begun(count: number, workers: number): ScriptedSession {
  const session = new ScriptedSession(workers, 8);
  session.tell({ type: "open" });
  session.start(job("j", [tasks(0, splits(count), { sink: COUNT, maxRetries: 2 })]), 1);
  return session;
}

test("[W6] a run that fails, one whose worker dies, and one that is done are told apart; each is the next attempt", () => {
  const session = begun(1, 1);
  session.now = 10;
  session.says(1, { type: "failed", task: session.taskOf(1).id, error: ERROR });
  session.now = 10_000;
  session.tell({ type: "tick" });
  session.now = 10_020;
  session.dies(1, { signal: "SIGKILL", cause: "signal" });
  session.now = 10_030;
  session.up(2);
  session.now = 10_040;
  session.done(2, 5);
  const { told, spans } = drawn(session.stream);
  const [failed, killed, done] = told.map(brief);
  expect(failed).toEqual(["j/0/0", "slot 1", 1, 0, 10, "failed"]);
  expect(killed?.slice(0, 3)).toEqual(["j/0/0", "slot 1", 2]);
  expect(killed?.slice(4)).toEqual([10_020, "killed"]);
  // The replacement has the slot of the worker that it replaces.
  expect(done?.slice(0, 3)).toEqual(["j/0/0", "slot 1", 3]);
  expect(done?.slice(4)).toEqual([10_040, "done"]);
  expect(told[2]?.figures).toMatchObject({ rowsOut: 5 });
  expect(spans.attemptOf(session.taskOf(2).id)).toBe(1);
});

test("[W6] a task that is no longer wanted has left, and one that runs at the end is open", () => {
  const session = begun(2, 2);
  session.now = 5;
  session.program({ type: "cancel", job: job("j", []).id });
  session.now = 9;
  session.says(1, { type: "cancelled", task: session.taskOf(1).id });
  const { told, spans, state } = drawn(session.stream);
  expect(told.map(brief)).toEqual([["j/0/0", "slot 1", 1, 0, 9, "left"]]);
  spans.end(state.at);
  expect(told.slice(1).map(brief)).toEqual([["j/0/1", "slot 2", 1, 0, 9, "open"]]);
});

test("[W6] after events were missed, spans go on from the snapshot, and none is made up", () => {
  const session = begun(3, 2);
  const seen = session.stream.length;
  session.now = 4;
  session.done(1);
  const missed = session.stream.length;
  const state = stateOf(JSON.parse(JSON.stringify(snapshotOf(session.state))));
  session.now = 7;
  session.done(1);
  session.done(2);
  const drawing = drawn(session.stream.slice(0, seen));
  drawing.spans.goOnFrom(state);
  drawing.state = state;
  goOn(drawing, session.stream.slice(missed));
  // The end of the first task was missed.
  expect(drawing.told.map(brief)).toEqual([
    ["j/0/2", "slot 1", 1, 4, 7, "done"],
    ["j/0/1", "slot 2", 1, 0, 7, "done"],
  ]);
  expect(drawing.told.map(({ worker }) => worker)).toEqual([1, 2] as WorkerId[]);
});
