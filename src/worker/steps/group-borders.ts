/**
 * Where a group ends and the next begins, in rows that are sorted by their keys. Compares neighbouring rows as the
 * kernel groups them: nulls are equal to each other, NaN equals NaN, and zero equals minus zero.
 */
import {
  BlockBuilder,
  bitAt,
  layoutOf,
  type RecordBatch,
  sliceBatch,
  typeName,
  type Vector,
  viewOf,
} from "../../arrow/index.ts";
import { RowShapeError, UnknownColumnError } from "../../errors/index.ts";

/** Whether a row differs from the previous one. */
type Differs = (row: number) => boolean;

export class GroupBorders {
  /** The keys of the last row seen, and those of the first row that comes next. */
  readonly #neighbours = new BlockBuilder();
  #any = false;

  constructor(
    private readonly keys: readonly string[],
    private readonly operator: string,
  ) {}

  /** Rows of the batch that begin a group. Row 0 is left out if it continues the previous group. */
  starts(batch: RecordBatch): number[] {
    const columns = this.#keysOf(batch);
    const starts: number[] = [];
    if (this.#beginsWithNew(columns)) starts.push(0);
    const differs = columns.columns.map((column, index) => comparer(column, this.keys[index] ?? "", this.operator));
    for (let row = 1; row < batch.length; row++) {
      for (let key = 0; key < differs.length; key++) {
        if (!(differs[key] as Differs)(row)) continue;
        starts.push(row);
        break;
      }
    }
    return starts;
  }

  #beginsWithNew(keys: RecordBatch): boolean {
    const last = sliceBatch(keys, keys.length - 1, keys.length);
    if (!this.#any) {
      this.#any = true;
      this.#neighbours.append(last);
      return true;
    }
    this.#neighbours.append(keys, 0, 1);
    const pair = this.#neighbours.finish();
    const isNew =
      pair?.columns.some((column, index) => comparer(column, this.keys[index] ?? "", this.operator)(1)) ?? true;
    this.#neighbours.append(last);
    return isNew;
  }

  #keysOf({ schema, length, columns }: RecordBatch): RecordBatch {
    const names = schema.fields.map(({ name }) => name);
    const places = this.keys.map((key) => {
      const place = names.indexOf(key);
      if (place === -1) throw new UnknownColumnError(key, names, this.operator, null);
      return place;
    });
    return {
      schema: { fields: places.flatMap((place) => schema.fields[place] ?? []) },
      length,
      columns: places.flatMap((place) => columns[place] ?? []),
    };
  }
}

function comparer(vector: Vector, key: string, operator: string): Differs {
  const values = valueComparer(vector, key, operator);
  const validity = vector.nullCount === 0 ? null : (vector.buffers[0] ?? null);
  if (validity === null) return values;
  const { offset } = vector;
  return (row) => {
    const here = bitAt(validity, offset + row);
    const before = bitAt(validity, offset + row - 1);
    return here !== before || (here && values(row));
  };
}

function valueComparer(vector: Vector, key: string, operator: string): Differs {
  const { type, offset, length } = vector;
  const data = vector.buffers[1] ?? new Uint8Array(0);
  if (type.kind === "float" && type.bits !== 16) {
    const numbers =
      type.bits === 64 ? viewOf(Float64Array, data, offset, length) : viewOf(Float32Array, data, offset, length);
    return (row) => {
      const here = numbers[row] as number;
      const before = numbers[row - 1] as number;
      return here !== before && !(Number.isNaN(here) && Number.isNaN(before));
    };
  }
  if (type.kind === "interval" && type.unit === "monthDayNano") return intervalComparer(vector, data);
  const layout = layoutOf(type);
  switch (layout.kind) {
    case "none":
      return () => false;
    case "bits":
      return (row) => bitAt(data, offset + row) !== bitAt(data, offset + row - 1);
    case "fixed":
      return fixedComparer(vector, data, layout.width);
    case "bytes":
      return bytesComparer(vector, data, layout.large);
    default:
      throw new RowShapeError(
        `${operator}: the key "${key}" is ${typeName(type)}; rows cannot be grouped by lists, structs or maps. Group by their parts, or by a text made from them.`,
        key,
      );
  }
}

const MONTH = 2_592_000_000_000_000n;
const DAY = 86_400_000_000_000n;

/**
 * Compares intervals as the kernel does: 30 days are a month, 24 hours a day; excess carries upwards, nothing is
 * borrowed.
 */
function intervalComparer({ offset, length }: Vector, data: Uint8Array): Differs {
  const words = viewOf(Int32Array, data, 4 * offset, 4 * length);
  const parts = (row: number) => {
    const [months = 0, days = 0, low = 0, high = 0] = words.subarray(4 * row, 4 * row + 4);
    const nanos = (BigInt(high) << 32n) | BigInt(low >>> 0);
    const micros = ((nanos % MONTH) % DAY) / 1000n;
    return {
      months: months + Math.trunc(days / 30) + Number(nanos / MONTH),
      days: (days % 30) + Number((nanos % MONTH) / DAY),
      micros,
    };
  };
  return (row) => {
    const [here, before] = [parts(row), parts(row - 1)];
    return here.months !== before.months || here.days !== before.days || here.micros !== before.micros;
  };
}

function fixedComparer({ offset, length }: Vector, data: Uint8Array, width: number): Differs {
  const size = width % 4 === 0 ? 4 : 1;
  const each = width / size;
  const words =
    size === 4
      ? viewOf(Uint32Array, data, offset * each, length * each)
      : viewOf(Uint8Array, data, offset * each, length * each);
  if (each === 1) return (row) => words[row] !== words[row - 1];
  return (row) => {
    const at = row * each;
    for (let word = 0; word < each; word++) if (words[at + word] !== words[at + word - each]) return true;
    return false;
  };
}

function bytesComparer(vector: Vector, offsetBytes: Uint8Array, large: boolean): Differs {
  const { offset, length } = vector;
  const stride = large ? 2 : 1;
  const offsets = viewOf(Uint32Array, offsetBytes, offset * stride, (length + 1) * stride);
  const bytes = vector.buffers[2] ?? new Uint8Array(0);
  return (row) => {
    const before = offsets[(row - 1) * stride] as number;
    const start = offsets[row * stride] as number;
    const size = (offsets[(row + 1) * stride] as number) - start;
    if (start - before !== size) return true;
    for (let at = 0; at < size; at++) if (bytes[before + at] !== bytes[start + at]) return true;
    return false;
  };
}
