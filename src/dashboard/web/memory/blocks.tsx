/** The blocks of each operator, and the largest blocks. */
import type { BlocksView } from "../../api.ts";
import { useAnswer } from "../fetching.ts";
import { bytes, count, duration, plural } from "../format.ts";
import { type Column, DataTable } from "../parts/data-table.tsx";
import { Empty, Failure, Waiting } from "../parts/empty.tsx";
import { OperatorName } from "../parts/operator-name.tsx";
import { Panel } from "../parts/panel.tsx";

type Group = BlocksView["groups"][number];
type Block = BlocksView["blocks"][number];

const GROUPS: readonly Column<Group>[] = [
  {
    name: "Operator",
    isHeading: true,
    by: ({ operator }) => operator,
    cell: ({ operator, key }) => <OperatorName name={operator} of={key} />,
  },
  { name: "Blocks", isNumber: true, by: ({ blocks }) => blocks, cell: ({ blocks }) => count(blocks) },
  { name: "In memory", isNumber: true, by: ({ inMemory }) => inMemory, cell: ({ inMemory }) => bytes(inMemory) },
  { name: "On disk", isNumber: true, by: ({ onDisk }) => onDisk, cell: ({ onDisk }) => bytes(onDisk) },
  { name: "Oldest", isNumber: true, by: ({ oldest }) => oldest, cell: ({ oldest }) => duration(oldest) },
  {
    name: "Held by",
    cell: ({ holders }) =>
      holders.slice(0, 8).join(", ") + (holders.length > 8 ? ` and ${holders.length - 8} more` : ""),
  },
];

const BLOCKS: readonly Column<Block>[] = [
  { name: "Block", isNumber: true, isHeading: true, by: ({ id }) => id, cell: ({ id }) => id },
  {
    name: "Operator",
    by: ({ operator }) => operator,
    cell: ({ operator }) => <OperatorName name={operator} of={null} />,
  },
  { name: "Size", isNumber: true, by: (block) => block.bytes, cell: (block) => bytes(block.bytes) },
  { name: "Rows", isNumber: true, by: ({ rows }) => rows, cell: ({ rows }) => count(rows) },
  { name: "Where", by: ({ state }) => state, cell: ({ state }) => state },
  { name: "Held by", by: ({ holder }) => holder, cell: ({ holder }) => holder.slice(0, 120) },
  { name: "Age", isNumber: true, by: ({ age }) => age, cell: ({ age }) => duration(age) },
  { name: "Made by worker", isNumber: true, by: ({ worker }) => worker ?? -1, cell: ({ worker }) => worker ?? "–" },
];

export function Blocks() {
  const { data, error } = useAnswer<BlocksView>("api/blocks", 2000);
  return (
    <>
      <Panel title="Blocks by operator">
        {error !== null && <Failure what="The blocks" error={error} />}
        {data === null && error === null && <Waiting what="the blocks" />}
        {data !== null && data.groups.length === 0 && (
          <Empty title="There is no block.">
            Blocks that somebody holds are listed here, by the operator that made them.
          </Empty>
        )}
        {data !== null && data.groups.length > 0 && (
          <DataTable
            label="Blocks by operator"
            rows={data.groups}
            columns={GROUPS}
            id={({ key, operator }) => key ?? operator}
            sorted="−In memory"
          />
        )}
      </Panel>
      {data !== null && data.blocks.length > 0 && (
        <Panel title="Largest blocks">
          <DataTable
            label="Largest blocks"
            rows={data.blocks}
            columns={BLOCKS}
            id={({ id }) => id}
            sorted="−Size"
            first={25}
          />
          {data.leftOut > 0 && <p class="left-out">Left out: {plural(data.leftOut, "smaller block")}.</p>}
        </Panel>
      )}
    </>
  );
}
