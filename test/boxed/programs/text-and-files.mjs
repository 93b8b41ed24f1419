// A text file, plain and compressed, and many small files of every format, each through a function. argv: directory,
// bytes, files.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { configure, fromItems, readArrow, readBinary, readCsv, readJson, readParquet, readText } from "spillway";

const [directory, bytes, files] = process.argv.slice(2);
configure({ progress: false });

const LINE = 100;
const lines = Number(bytes) / LINE;
const text = join(directory, "log.txt");
const some = (from, to) => {
  let piece = "";
  for (let i = from; i < to; i++) piece += `${`line ${i} ${i % 10_000 === 0 ? "wanted" : ""}`.padEnd(LINE - 1, ".")}\n`;
  return piece;
};
for (let i = 0; i < lines; i += 10_000) writeFileSync(text, some(i, Math.min(lines, i + 10_000)), { flag: "a" });
const members = [];
for (let i = 0; i < lines; i += 40_000) members.push(gzipSync(some(i, Math.min(lines, i + 40_000))));
writeFileSync(`${text}.gz`, Buffer.concat(members));

const counts = { lines: await readText(text).count(), packed: await readText(`${text}.gz`).count() };
counts.matching = await readText(text)
  .filter((row) => row.text.includes("wanted"))
  .count();

const one = fromItems([{ a: 1, b: "x" }]);
await one.writeParquet(join(directory, "one"));
await one.writeArrow(join(directory, "one"), { mode: "append" });
const written = (ending) => {
  const name = readdirSync(join(directory, "one")).find((each) => each.endsWith(ending));
  return readFileSync(join(directory, "one", name));
};
const contents = {
  parquet: [written("parquet"), readParquet],
  arrow: [written("arrow"), readArrow],
  csv: ["a,b\n1,x\n", readCsv],
  json: ['{"a":1,"b":"x"}\n', readJson],
  text: ["x\n", readText],
  binary: ["x", readBinary],
};
for (const [name, [content, read]] of Object.entries(contents)) {
  const folder = join(directory, name);
  mkdirSync(folder);
  for (let i = 0; i < Number(files); i++) writeFileSync(join(folder, String(i).padStart(6, "0")), content);
  counts[name] = await read(folder)
    .map((row) => ({ columns: Object.keys(row).length }))
    .count();
}
console.log(JSON.stringify(counts));
