/** An HTTP API asked once per row, 50 calls at once in each worker. `http-per-row.ts http://host/price` */
import { range } from "spillway";

const url = process.argv[2] ?? "";
const priced = range(200).map(
  async (row) => {
    const response = await fetch(`${url}?id=${row.id}`);
    if (!response.ok) throw new Error(`${response.status} for ${row.id}`);
    const { price }: { price: number } = JSON.parse(await response.text());
    return { id: row.id, price };
  },
  { maxInFlight: 50 },
);
console.log(JSON.stringify(await priced.sort("id").takeAll()));
