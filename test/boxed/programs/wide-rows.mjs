// Rows of a megabyte, made by a function, through work over all rows. argv: directory, what, rows.
import { session } from "spillway";

const [what, rows] = [process.argv[3], Number(process.argv[4])];
const s = session({ progress: false, localDirectory: process.env.TMPDIR });
const images = s
  .range(rows, { overrideNumBlocks: Math.ceil(rows / 16) })
  .map(({ id }) => ({ id: rows - 1 - id, image: Buffer.alloc(2 ** 20, id % 251) }));

const WORK = {
  sort: () => images.sort("id"),
  shuffle: () => images.randomShuffle({ seed: 1 }),
  join: () =>
    images.join(
      s.range(rows).map(({ id }) => ({ id, label: `label ${id}` })),
      { on: "id" },
    ),
  distinct: () => images.distinct("id"),
};

const result = { rows: 0, bytes: 0, wrong: 0, inOrder: true };
let last = -1;
for await (const { id, image, label } of WORK[what]().iterRows()) {
  result.rows += 1;
  result.bytes += image.length;
  const isOwn = image[0] === (rows - 1 - id) % 251 && image.at(-1) === image[0];
  if (!isOwn || (what === "join" && label !== `label ${id}`)) result.wrong += 1;
  if (id !== last + 1) result.inOrder = false;
  last = id;
}
await s.close();
console.log(JSON.stringify(result));
