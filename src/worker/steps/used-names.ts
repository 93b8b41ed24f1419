/** A link after a function: checks the names that later operators use against the columns that the function made. */
import type { RecordBatch, Schema } from "../../arrow/index.ts";
import type { NameUse } from "../../protocol/index.ts";
import type { Link } from "../link.ts";
import { checkNameUses } from "../name-uses.ts";

export class UsedNames implements Link {
  #checked: Schema | null = null;

  constructor(
    private readonly uses: readonly NameUse[],
    private readonly next: Link,
  ) {}

  get wanted(): number {
    return this.next.wanted;
  }

  get takesEach(): boolean {
    return this.next.takesEach;
  }

  push(batch: RecordBatch): void | Promise<void> {
    if (batch.length > 0 && !hasSameNames(batch.schema, this.#checked)) {
      const names = batch.schema.fields.map(({ name }) => name);
      checkNameUses(this.uses, names);
      this.#checked = batch.schema;
    }
    return this.next.push(batch);
  }

  end(): void | Promise<void> {
    return this.next.end();
  }

  close(): void {
    this.next.close();
  }
}

function hasSameNames(schema: Schema, other: Schema | null): boolean {
  if (other === null || schema.fields.length !== other.fields.length) return schema === other;
  return schema === other || schema.fields.every(({ name }, i) => other.fields[i]?.name === name);
}
