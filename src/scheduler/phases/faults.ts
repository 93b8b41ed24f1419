/**
 * Compares the sets that index tasks and workers with their phases. For tests and the simulation, after every event: it
 * looks at every task and worker.
 */
import type { TaskPhase } from "../../protocol/index.ts";
import type { JobState, OperatorState, State, TaskState, WorkerState } from "../state/index.ts";
import { isWithWorker } from "./task.ts";
import { isReady } from "./worker.ts";

/** What is wrong, one sentence each. */
export function phaseFaults(state: State): readonly string[] {
  const faults: string[] = [];
  const expect = (holds: boolean, sentence: () => string) => {
    if (!holds) faults.push(sentence());
  };
  expect(state.phases.unplaced.size === 0, () => `${namesOf(state.phases.unplaced)} have no place after the event`);
  for (const job of state.jobs.values()) faults.push(...faultsOfJob(job));
  faults.push(...faultsOfIndexes(state));
  const { wide, starting } = state.phases;
  const workers = [...state.workers.values(), ...(wide === null ? [] : [wide])];
  for (const worker of state.workers.values()) faults.push(...faultsOfWorker(state, worker));
  for (const worker of workers) {
    const { id, phase } = worker;
    expect(
      starting.has(worker) === (phase === "starting"),
      () => `worker ${id} is ${phase}: wrong in the set starting`,
    );
  }
  for (const worker of starting) expect(workers.includes(worker), () => `worker ${worker.id} starts, and is unknown`);
  return faults;
}

/** The sets of an operator, and which phases each is for; repairs are tasks that make a lost block again. */
const OPERATOR_SETS: readonly {
  readonly name: string;
  readonly phases: readonly TaskPhase[];
  readonly repairs: "never" | "only" | "too";
  of(operator: OperatorState): Iterable<TaskState>;
}[] = [
  { name: "again", phases: ["waiting"], repairs: "never", of: ({ phases: { again } }) => again },
  { name: "fetching", phases: ["fetching"], repairs: "too", of: ({ phases: { fetching } }) => fetching },
  { name: "aside", phases: ["aside"], repairs: "too", of: ({ phases: { aside } }) => aside },
  { name: "resting", phases: ["resting"], repairs: "never", of: ({ phases: { resting } }) => resting },
  {
    name: "running",
    phases: ["running", "asking", "cancelling", "killing"],
    repairs: "never",
    of: ({ phases: { running } }) => running.values(),
  },
  {
    name: "repairing",
    phases: ["running", "asking", "cancelling", "killing"],
    repairs: "only",
    of: ({ phases: { repairing } }) => repairing,
  },
  { name: "asking", phases: ["asking"], repairs: "too", of: ({ phases: { asking } }) => asking },
];

function faultsOfJob(job: JobState): readonly string[] {
  const faults: string[] = [];
  let [running, asking] = [0, 0];
  for (const operator of job.operators) {
    for (const { name, phases, repairs, of } of OPERATOR_SETS) {
      for (const task of of(operator)) {
        const isRepair = task.repairs !== null;
        const fits = phases.includes(task.phase) && (repairs === "too" || isRepair === (repairs === "only"));
        if (!fits || task.operator !== operator) faults.push(`${task.id} is ${task.phase} and in the set ${name}`);
      }
    }
    running += operator.phases.running.size + operator.phases.repairing.size;
    asking += operator.phases.asking.size;
    const bytes = [...operator.phases.asking].reduce((sum, task) => sum + (task.asking?.bytes ?? 0), 0);
    if (bytes !== operator.phases.askingBytes)
      faults.push(`${operator.spec.name} asks for ${bytes} bytes and counts others`);
  }
  if (running !== job.phases.runningTasks)
    faults.push(`${job.id} has ${running} tasks with workers, not ${job.phases.runningTasks}`);
  if (asking !== job.phases.askingTasks)
    faults.push(`${job.id} has ${asking} tasks that ask, not ${job.phases.askingTasks}`);
  if (job.phase === "gone") faults.push(`${job.id} is gone and among the jobs`);
  return faults;
}

/** The sets of the session hold exactly what those of its operators do. */
function faultsOfIndexes(state: State): readonly string[] {
  const operators = [...state.jobs.values()].flatMap((job) => job.operators);
  const withWorkers = operators.flatMap(({ phases: { running, repairing } }) => [...running.values(), ...repairing]);
  const askers = operators.filter(({ phases: { asking } }) => asking.size > 0);
  return [
    ...differences(
      "fetching",
      state.phases.fetching,
      new Set(operators.flatMap(({ phases: { fetching } }) => [...fetching])),
    ),
    ...differences(
      "resting",
      state.phases.resting,
      new Set(operators.flatMap(({ phases: { resting } }) => [...resting])),
    ),
    ...differences(
      "cancelling",
      state.phases.cancelling,
      new Set(withWorkers.filter(({ phase }) => phase === "cancelling")),
    ),
    ...differences(
      "feeding",
      state.phases.feeding,
      new Set(withWorkers.filter(({ input: { feed } }) => feed !== null)),
    ),
    ...(askers.length === state.phases.askers.size && askers.every((operator) => state.phases.askers.has(operator))
      ? []
      : ["the set askers is not that of the operators with tasks that ask"]),
    ...state.phases.repairs
      .filter(({ phase, repairs }) => phase !== "waiting" || repairs === null)
      .map(({ id, phase }) => `${id} is ${phase} and in the set repairs`),
    ...state.phases.repairs
      .filter(({ operator }) => operator.job.phase === "gone")
      .map(({ id }) => `${id} waits to make a block again, and its job is gone`),
    ...withWorkers
      .filter((task) => task.worker?.task !== task)
      .map(({ id, phase }) => `${id} is ${phase}, and no worker has it`),
  ];
}

function differences(name: string, has: ReadonlySet<TaskState>, should: ReadonlySet<TaskState>): readonly string[] {
  const missing = [...should].filter((task) => !has.has(task));
  const extra = [...has].filter((task) => !should.has(task));
  return [
    ...(missing.length === 0 ? [] : [`${namesOf(missing)} are missing in the set ${name}`]),
    ...(extra.length === 0 ? [] : [`${namesOf(extra)} are wrongly in the set ${name}`]),
  ];
}

function faultsOfWorker(state: State, worker: WorkerState): readonly string[] {
  const faults: string[] = [];
  const { id, phase, task } = worker;
  if (phase === "busy" && task === null) faults.push(`worker ${id} is busy without a task`);
  if (task !== null && phase !== "busy" && phase !== "stopping") faults.push(`worker ${id} is ${phase} with a task`);
  if (task !== null && !isWithWorker(task)) faults.push(`worker ${id} has ${task.id}, which is ${task.phase}`);
  if (state.phases.idle.has(worker) !== isReady(state, worker))
    faults.push(`worker ${id} is ${phase}: wrong in the set idle`);
  for (const operator of worker.knows) {
    if (operator.phases.idle.has(worker) !== isReady(state, worker))
      faults.push(`worker ${id} is ${phase}: wrong in the idle workers of ${operator.spec.name}`);
  }
  return faults;
}

function namesOf(tasks: Iterable<TaskState>): string {
  return [...tasks].map(({ id, phase }) => `${id} (${phase})`).join(", ");
}
