/**
 * What every dataset and pipeline contains: an engine and a plan, hidden from the program, because a function that
 * captures a dataset must not capture them. Methods are in classes above this one, one class for each idea. They are
 * the same for datasets and pipelines; each of the two says what it makes of a plan.
 */
import { STAYS, type Stays } from "../closure/index.ts";
import { OptionError } from "../errors/index.ts";
import type { Plan } from "../plan/index.ts";
import type { Dataset } from "./dataset.ts";
import type { Engine } from "./engine.ts";
import { describe } from "./options.ts";
import type { DatasetPipeline } from "./pipeline/index.ts";
import type { AnyRow } from "./row-types.ts";

interface Kinds<O extends AnyRow> {
  readonly dataset: Dataset<O>;
  readonly pipeline: DatasetPipeline<O>;
}

export type DerivedKind = keyof Kinds<AnyRow>;

/** What a method returns: a dataset for a dataset, a pipeline for a pipeline. */
export type Derived<Kind extends DerivedKind, O extends AnyRow> = Kinds<O>[Kind];

/** @internal Gives pipelines access to the parts of a dataset. */
export let insideOf: (dataset: DatasetCore<"dataset">) => { readonly engine: Engine; readonly plan: Plan };

export const DATASET_STAYS: Stays = {
  what: "a Dataset",
  remedy:
    "A worker cannot run datasets. Join the two, or take its rows first (const rows = await other.takeAll()) and use them in the function.",
};

export abstract class DatasetCore<Kind extends DerivedKind> {
  static {
    insideOf = (dataset) => ({ engine: dataset.#engine, plan: dataset.#plan });
  }

  readonly #engine: Engine;
  readonly #plan: Plan;

  constructor(engine: Engine, plan: Plan) {
    this.#engine = engine;
    this.#plan = plan;
  }

  protected abstract readonly kind: Kind;

  /** Makes a dataset or pipeline of a plan over this one's plan; `operator` is the method that was called. */
  protected abstract derive<O extends AnyRow>(operator: string, plan: Plan): Derived<Kind, O>;

  /** @internal The reason why a function that captures a dataset is refused. */
  get [STAYS](): Stays {
    return DATASET_STAYS;
  }

  protected get engine(): Engine {
    return this.#engine;
  }

  protected get plan(): Plan {
    return this.#plan;
  }

  /** The plan of another dataset, which is to be combined with this one. */
  protected planOf(operator: string, other: unknown): Plan {
    if (!(other instanceof DatasetCore)) throw new OptionError(`${operator}: ${describe(other)} is not a dataset.`);
    if (other.kind !== "dataset") {
      throw new OptionError(`${operator}: the other side is a pipeline; it must be a dataset.`);
    }
    if (other.#engine !== this.#engine)
      throw new OptionError(`${operator}: the datasets belong to different sessions.`);
    return other.#plan;
  }
}
