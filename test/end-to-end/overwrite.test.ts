/** What an overwrite removes, and how the new data takes the place of the old. */
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { WriteError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("overwrite");
const s = sessions.open();
let outs = 0;
const fresh = () => join(sessions.directory, `out-${outs++}`);

/** Every name below a directory, hidden ones included. */
function namesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map(String).sort();
}

function put(path: string, text = "mine"): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const overwrite = { mode: "overwrite" } as const;

describe("what overwrite removes", () => {
  test.each([
    "package.json",
    "src/index.ts",
    "notes.txt",
    ".env",
    ".git/config",
    "_notes.md",
    "data.parquet",
    "sub/part-00000-0123abcd-000.parquet",
    "k=1/readme.txt",
  ])("[A11] a directory with %s is refused, by its name, and nothing is touched", async (foreign) => {
    const out = fresh();
    await s.range(7).writeParquet(out);
    put(join(out, foreign));
    const before = namesBelow(out);
    const refused = s.range(3).writeParquet(out, overwrite);
    await expect(refused).rejects.toThrow(WriteError);
    await expect(refused).rejects.toThrow(foreign);
    await expect(refused).rejects.toThrow(/[Nn]othing was changed/);
    expect(namesBelow(out)).toEqual(before);
  });

  test("[A11] files of our own go, whatever their format and partitions", async () => {
    const out = fresh();
    const rows = s.fromItems([{ a: 1, k: "x" }]);
    await rows.writeCsv(out, { partitionBy: "k", compression: "gzip" });
    await rows.writeJson(out, { mode: "append", partitionBy: "k" });
    await rows.map((row) => row).writeJson(out, { mode: "append", maxRowsPerFile: 1 });
    await rows.writeArrow(out, { mode: "append" });
    await s.range(3).writeParquet(out, overwrite);
    expect(readdirSync(out).length).toBe(1);
    expect(await s.readParquet(out).count()).toBe(3);
  });

  test("[A11] partition data of others goes where the format is the same", async () => {
    const out = fresh();
    put(join(out, "part-00000-aa-c000.snappy.parquet"));
    put(join(out, "year=2024/data_0.parquet"));
    await s.range(3).writeParquet(out, overwrite);
    expect(readdirSync(out).length).toBe(1);
    const other = fresh();
    put(join(other, "part-00000-aa-c000.snappy.parquet"));
    await expect(s.range(3).writeArrow(other, overwrite)).rejects.toThrow(/part-00000-aa-c000.snappy.parquet/);
  });

  test.each(["Csv", "Json"] as const)(
    "[A11] write%s: files of others stay, whatever they are called",
    async (format) => {
      for (const name of [`part-0.${format.toLowerCase()}`, `k=1/data.${format.toLowerCase()}`]) {
        const out = fresh();
        put(join(out, name));
        await expect(s.range(3)[`write${format}`](out, overwrite)).rejects.toThrow(name);
        expect(readFileSync(join(out, name), "utf8")).toBe("mine");
      }
    },
  );

  test("[A11] markers of other writers are kept and no reason to refuse", async () => {
    const out = fresh();
    put(join(out, "part-0.parquet"));
    put(join(out, "_SUCCESS"), "");
    put(join(out, ".part-0.parquet.crc"), "sum");
    await s.range(3).writeParquet(out, overwrite);
    expect(readdirSync(out).filter((name) => !/^part-/.test(name))).toEqual([".part-0.parquet.crc", "_SUCCESS"]);
    expect(await s.readParquet(out).count()).toBe(3);
  });

  test("[A11] a link inside is no file of ours; where it leads nothing happens", async () => {
    const out = fresh();
    const elsewhere = fresh();
    await s.range(7).writeParquet(elsewhere);
    mkdirSync(out);
    symlinkSync(elsewhere, join(out, "k=1"));
    await expect(s.range(3).writeParquet(out, overwrite)).rejects.toThrow(/k=1/);
    expect(await s.readParquet(elsewhere).count()).toBe(7);
  });

  test("[A11] a link to the directory is resolved: its target is judged, and replaced; the link stays", async () => {
    const target = fresh();
    const link = fresh();
    await s.range(7).writeParquet(target);
    symlinkSync(target, link);
    const { files } = await s.range(3).writeParquet(link, overwrite);
    expect(files.map(dirname)).toEqual([link]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(await s.readParquet(target).count()).toBe(3);
    put(join(target, "notes.txt"));
    await expect(s.range(1).writeParquet(link, overwrite)).rejects.toThrow(/notes.txt/);
  });

  // In a process of its own, with an own home and working directory: were it not refused, only these would be lost.
  test("[A11] a home and the working directory are refused, with what is above them, also through a link", async () => {
    const parent = fresh();
    const home = join(parent, "home");
    const here = join(parent, "work", "here");
    mkdirSync(home, { recursive: true });
    mkdirSync(here, { recursive: true });
    symlinkSync(here, join(parent, "link"));
    const program = `
      import { session } from ${JSON.stringify(import.meta.resolve("spillway"))};
      const s = session({ progress: false, workers: 1 });
      const told = [];
      for (const path of [${JSON.stringify(home)}, ".", "./", "..", ${JSON.stringify(join(parent, "link"))}]) {
        told.push(await s.range(3).writeParquet(path, { mode: "overwrite" }).then(() => "written", (error) => error.message));
      }
      console.log(JSON.stringify(told));
      await s.close();
    `;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
      cwd: here,
      env: { ...process.env, HOME: home },
    });
    const told: string[] = JSON.parse(stdout);
    expect(told.length).toBe(5);
    for (const text of told) expect(text).toMatch(/mode "overwrite" is refused for .*(home|working) directory/);
    expect(namesBelow(parent)).toEqual(["home", "link", "work", "work/here"]);
  });

  test("[A11] the error of a directory that has files suggests overwrite only where it would do no harm", async () => {
    const out = fresh();
    await s.range(3).writeParquet(out);
    await expect(s.range(3).writeParquet(out)).rejects.toThrow(/already has data.*"overwrite"/);
    put(join(out, "package.json"), "{}");
    const error: Error = await s
      .range(3)
      .writeParquet(out)
      .then(
        () => new Error("written"),
        (error) => error,
      );
    expect(error.message).toMatch(/already has data/);
    expect(error.message).not.toMatch(/"overwrite"/);
    const project = fresh();
    put(join(project, "package.json"), "{}");
    await expect(s.range(3).writeParquet(project)).rejects.toThrow(/package\.json.*another directory/);
  });
});

describe("the replacement", () => {
  test("[A11] what reads the directory sees the old data or the new, never both or neither", async () => {
    const out = fresh();
    const rows = (k: number) => s.range(200, { overrideNumBlocks: 20 }).map((row) => ({ id: row.id, k }));
    await rows(0).writeParquet(out, { partitionBy: "k" });
    let stop = false;
    const seen = new Set<string>();
    const looking = (async () => {
      while (!stop) {
        const { ino } = statSync(out);
        const names = readdirSync(out).join();
        // Of a directory that was replaced between its opening and its reading the names are gone.
        if (statSync(out).ino === ino) seen.add(names);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let k = 1; k <= 4; k++) await rows(k).writeParquet(out, { ...overwrite, partitionBy: "k" });
    stop = true;
    await looking;
    expect([...seen].filter((names) => !/^k=\d$/.test(names))).toEqual([]);
    expect(await s.readParquet(out).count()).toBe(200);
  });

  test("[A11] the directory keeps its permissions, and nothing is left beside it", async () => {
    const parent = fresh();
    const out = join(parent, "out");
    await s.range(3).writeParquet(out);
    chmodSync(out, 0o2750);
    await s.range(4).writeParquet(out, overwrite);
    expect(statSync(out).mode & 0o7777).toBe(0o2750);
    expect(readdirSync(parent)).toEqual(["out"]);
    expect(readdirSync(out).length).toBe(1);
  });

  test("[A11] overwriting what another job appends to and what is read meanwhile", async () => {
    const out = fresh();
    await s.range(10).writeParquet(out);
    await Promise.all([
      s.range(20).writeParquet(out, { mode: "append" }),
      s.range(30).writeParquet(out, overwrite),
      s.range(40).writeParquet(out, overwrite),
    ]);
    expect([30, 40, 50, 60]).toContain(await s.readParquet(out).count());
    expect(readdirSync(out).every((name) => name.startsWith("part-"))).toBe(true);
  });

  test("[A11] an overwrite without rows and columns leaves an empty directory", async () => {
    const out = fresh();
    await s.range(10).writeParquet(out);
    await s
      .range(10)
      .map((row) => row)
      .filter(() => false)
      .writeParquet(out, overwrite);
    expect(existsSync(out)).toBe(true);
    expect(await s.range(2).writeParquet(out)).toMatchObject({ rows: 2 });
  });

  test("[A11] a pipeline is refused to overwrite the files that its next windows read", async () => {
    const out = fresh();
    await s.range(10, { overrideNumBlocks: 5 }).writeParquet(out);
    const pipeline = s.readParquet(out).window({ blocks: 2 });
    await expect(pipeline.writeParquet(out, overwrite)).rejects.toThrow(
      /reads .* which its first window would overwrite/,
    );
    expect(await s.readParquet(out).count()).toBe(10);
  });
});

describe("one of several at once", () => {
  const one = sessions.open();
  const two = sessions.open();

  test.each(["is not there", "is empty", "has a hidden file"])(
    '[A11] mode "error" in a directory that %s: exactly one of many writers succeeds, across sessions',
    async (state) => {
      const out = fresh();
      if (state !== "is not there") mkdirSync(out);
      if (state === "has a hidden file") put(join(out, "_SUCCESS"), "");
      const results = await Promise.allSettled(
        [s, one, two, s, one, two].map((session, i) => session.range(10 + i).writeParquet(out)),
      );
      const written = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
      expect(written.length).toBe(1);
      expect(await s.readParquet(out).count()).toBe(written[0]?.rows);
      const reasons = results.flatMap((result) => (result.status === "rejected" ? [String(result.reason)] : []));
      for (const reason of reasons) expect(reason).toMatch(/already has data/);
      expect(readdirSync(sessions.directory).filter((name) => name.startsWith(".spillway"))).toEqual([]);
    },
  );

  test("[A11] appends at once all arrive", async () => {
    const out = fresh();
    await Promise.all([s, one, two, s].map((session) => session.range(10).writeParquet(out, { mode: "append" })));
    expect(await s.readParquet(out).count()).toBe(40);
  });
});
