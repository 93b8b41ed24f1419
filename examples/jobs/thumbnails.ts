/**
 * Thumbnails: pictures (binary PPM, as `convert x.jpg x.ppm` makes them) at half their size, into Parquet.
 * `thumbnails.ts pictures/ out/`
 */
import { basename } from "node:path";
import { readBinary } from "spillway";

const [pictures = "", out = ""] = process.argv.slice(2);

function halved(width: number, height: number, pixels: Uint8Array): Uint8Array {
  const [columns, rows] = [width >> 1, height >> 1];
  const small = new Uint8Array(columns * rows * 3);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns * 3; x++) {
      const at = (2 * y * width + 2 * Math.floor(x / 3)) * 3 + (x % 3);
      const sum = (dx: number, dy: number) => pixels[at + (dy * width + dx) * 3] ?? 0;
      small[y * columns * 3 + x] = (sum(0, 0) + sum(1, 0) + sum(0, 1) + sum(1, 1)) >> 2;
    }
  }
  return small;
}

const thumbnails = readBinary(`${pictures}/*.ppm`).map((file) => {
  const [head = "", width, height] = /^P6\s(\d+)\s(\d+)\s255\s/.exec(Buffer.from(file.bytes).toString("latin1")) ?? [];
  if (head === "") throw new Error(`${file.path} is no binary PPM of 8 bits`);
  const pixels = halved(Number(width), Number(height), file.bytes.subarray(head.length));
  return { name: basename(file.path), width: Number(width) >> 1, height: Number(height) >> 1, pixels };
});
console.log(JSON.stringify({ pictures: (await thumbnails.writeParquet(out)).rows }));
