/**
 * What every dataset has inside: an engine and a plan, out of sight of the program (a function that captured a dataset
 * must not take them along). Methods that build on it are in classes of their own, one for each idea.
 */
import { OptionError } from "../errors/index.ts";
import type { Plan } from "../plan/index.ts";
import type { JobStats } from "../protocol/index.ts";
import type { Run } from "./consume/blocks.ts";
import type { Dataset } from "./dataset.ts";
import type { Engine } from "./engine.ts";
import { describe } from "./options.ts";
import type { AnyRow } from "./row-types.ts";

/** @internal What pipelines build on. */
export let insideOf: (dataset: DatasetCore) => { readonly engine: Engine; readonly plan: Plan };

export abstract class DatasetCore {
  static {
    insideOf = (dataset) => ({ engine: dataset.#engine, plan: dataset.#plan });
  }

  readonly #engine: Engine;
  readonly #plan: Plan;
  #stats: JobStats | null = null;

  constructor(engine: Engine, plan: Plan) {
    this.#engine = engine;
    this.#plan = plan;
  }

  /** The dataset of a node over this one. */
  protected abstract derive<O extends AnyRow>(plan: Plan): Dataset<O>;

  protected get engine(): Engine {
    return this.#engine;
  }

  protected get plan(): Plan {
    return this.#plan;
  }

  /** Of the last run. */
  protected get lastStats(): JobStats | null {
    return this.#stats;
  }

  /** The plan of another dataset that is put together with this one. */
  protected planOf(operator: string, other: unknown): Plan {
    if (!(other instanceof DatasetCore)) throw new OptionError(`${operator}: ${describe(other)} is no dataset.`);
    if (other.#engine !== this.#engine) throw new OptionError(`${operator}: the datasets are of different sessions.`);
    return other.#plan;
  }

  protected run(plan: Plan = this.#plan): Run {
    return {
      engine: this.#engine,
      plan,
      ended: (stats) => {
        this.#stats = stats;
      },
    };
  }
}
