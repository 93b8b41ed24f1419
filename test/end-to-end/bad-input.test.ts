import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import * as zlib from "node:zlib";
import {
  CancelledError,
  CaptureError,
  col,
  FunctionError,
  OutOfMemoryError,
  SourceError,
  UnknownColumnError,
  WriteError,
} from "spillway";
import { beforeAll, describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("bad-input");
const s = sessions.open();
const data = join(sessions.directory, "data");

beforeAll(async () => {
  await s.range(50_000).withColumn("text", col("id").cast("VARCHAR")).writeParquet(data);
});

/** The session is not harmed by any of these: it answers the next question. */
async function stillAlive(): Promise<void> {
  expect(
    await s
      .range(10)
      .map((row) => ({ id: row.id }))
      .count(),
  ).toBe(10);
}

async function failure(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("it did not fail");
}

describe("files", () => {
  test("[A1] a path that matches nothing is named", async () => {
    const error = await failure(s.readParquet(join(sessions.directory, "nowhere/*.parquet")).count());
    expect(error).toBeInstanceOf(SourceError);
    expect(error.message).toContain("nowhere/*.parquet");
    await stillAlive();
  });

  test("[A1] a truncated Parquet file is named", async () => {
    const broken = join(sessions.directory, "broken.parquet");
    const [file] = await s.readParquet(data, { includePaths: true }).select("path").take(1);
    writeFileSync(broken, readFileSync(String(file?.path)));
    truncateSync(broken, 1000);
    const error = await failure(
      s
        .readParquet(broken)
        .map((row) => row)
        .takeAll(),
    );
    expect(error).toBeInstanceOf(SourceError);
    expect(error.message).toContain(broken);
    await stillAlive();
  });

  test("[A1] a CSV file with a broken row: the file and the line are named", async () => {
    const csv = join(sessions.directory, "broken.csv");
    const lines = ["a,b", ...Array.from({ length: 30_000 }, (_, i) => `${i},${i}`)];
    lines[25_000] = '1,2,3,4,"';
    writeFileSync(csv, lines.join("\n"));
    const error = await failure(s.readCsv(csv).count());
    expect(error).toBeInstanceOf(SourceError);
    expect(error.message).toContain(csv);
    expect(error.message).toMatch(/25,?00\d/);
    await stillAlive();
  });

  test("[A11] writing over files that are there is an error by default, and loses nothing", async () => {
    const error = await failure(s.range(5).writeParquet(data));
    expect(error).toBeInstanceOf(WriteError);
    expect(error.message).toContain(data);
    expect(await s.readParquet(data).count()).toBe(50_000);
  });

  test("[A11] a directory that cannot be written is named", async () => {
    const blocked = join(sessions.directory, "a-file");
    writeFileSync(blocked, "not a directory");
    const error = await failure(s.range(5).writeParquet(join(blocked, "out")));
    expect(error.message).toContain(blocked);
    await stillAlive();
  });
});

describe("options", () => {
  test("[A1] a local directory that is too long for a socket is named", async () => {
    const long = sessions.open({ localDirectory: join(sessions.directory, "x".repeat(80)) });
    await expect(
      long
        .range(1)
        .map((row) => row)
        .takeAll(),
    ).rejects.toThrow(/localDirectory is too long.*107/);
  });

  test("[A1] an unknown or impossible option is named", () => {
    // @ts-expect-error there is no such option
    expect(() => sessions.open({ wrokers: 2 })).toThrow(/"wrokers".*workers/);
    expect(() => sessions.open({ workers: 0 })).toThrow(/workers must be a whole number/);
    expect(() => sessions.open({ objectStoreMemory: "a lot" })).toThrow(
      /objectStoreMemory must be a size .*, not "a lot"/,
    );
  });
});

describe("columns", () => {
  test("[A7] an unknown column is named, with the nearest one", async () => {
    const error = await failure(s.readParquet(data).filter(col("txet").eq("5")).takeAll());
    expect(error).toBeInstanceOf(UnknownColumnError);
    expect(error.message).toContain('"txet"');
    expect(error.message).toContain("text");
    await stillAlive();
  });

  test("[A7] an unknown column after a function is named too", async () => {
    const error = await failure(
      s
        .range(10)
        .map((row) => ({ value: row.id }))
        .withColumn("x", col("valeu" as "value").add(1))
        .takeAll(),
    );
    expect(error).toBeInstanceOf(UnknownColumnError);
    expect(error.message).toContain("valeu");
    await stillAlive();
  });
});

describe("functions", () => {
  test("[A14] a function that throws on one row: operator, row, file and the user's own line", async () => {
    const error = await failure(
      s
        .readParquet(data)
        .map(function addTax(row) {
          if (row.id === 40_123) throw new RangeError("this one is bad");
          return { id: row.id };
        })
        .takeAll(),
    );
    expect(error).toBeInstanceOf(FunctionError);
    const { message } = error;
    expect(message).toContain("addTax");
    expect(message).toContain("RangeError: this one is bad");
    expect(message).toContain("id: 40123");
    expect(message).toContain(data);
    expect(message).toMatch(/bad-input\.test\.ts:\d+/);
    await stillAlive();
  });

  test("[A14] a promise that rejects", async () => {
    const error = await failure(
      s
        .range(100)
        .map(async (row) => {
          if (row.id === 50) throw new Error("no answer");
          return { id: row.id };
        })
        .takeAll(),
    );
    expect(error).toBeInstanceOf(FunctionError);
    expect(error.message).toContain("no answer");
    await stillAlive();
  });

  test("[A14] an error that nobody catches ends the job at once, as the function's", async () => {
    const error = await failure(
      s
        .range(3)
        .map(async (row) => {
          void Promise.reject(new Error("nobody looks"));
          await new Promise((resolve) => setTimeout(resolve, 1000));
          return row;
        })
        .takeAll(),
    );
    expect(error).toBeInstanceOf(FunctionError);
    expect(error.message).toContain("nobody looks");
    await stillAlive();
  });

  test("[A14] rows of differing shape: the column is named", async () => {
    const more = await failure(
      s
        .range(100, { overrideNumBlocks: 1 })
        .map((row) => (row.id === 50 ? { id: row.id, extra: 1 } : { id: row.id }))
        .takeAll(),
    );
    expect(more).toBeInstanceOf(FunctionError);
    expect(more.message).toContain("extra");
    const type = await failure(
      s
        .range(100, { overrideNumBlocks: 1 })
        .map((row) => ({ v: row.id === 50 ? "text" : row.id }))
        .takeAll(),
    );
    expect(type.message).toContain('"v"');
    await stillAlive();
  });

  test("[A14] a function that returns nothing", async () => {
    const nothing = () => {};
    // @ts-expect-error a row is expected
    const error = await failure(s.range(10).map(nothing).takeAll());
    expect(error).toBeInstanceOf(FunctionError);
    expect(error.message).toContain("undefined");
    const batch = await failure(
      s
        .range(10)
        // @ts-expect-error columns are expected
        .mapBatches(() => null)
        .takeAll(),
    );
    expect(batch.message).toContain("null");
    await stillAlive();
  });

  test("[A5] a captured socket is an error before anything runs, naming the variable and the line", async () => {
    const server = createServer();
    const error = await failure(
      (async () =>
        s
          .range(10)
          .map((row) => ({ id: row.id, l: server.listening }))
          .takeAll())(),
    );
    expect(error).toBeInstanceOf(CaptureError);
    expect(error.message).toContain("server");
    expect(error.message).toMatch(/bad-input\.test\.ts:\d+/);
    await stillAlive();
  });

  test("[A10] a function that never ends can be cancelled", async () => {
    const iterator = s
      .range(10)
      .map((row) => {
        for (;;) if (row.id < -1) break;
        return row;
      })
      .iterRows()
      [Symbol.asyncIterator]();
    const first = iterator.next();
    first.catch(() => {});
    // No row will ever come: the reader gives up.
    await iterator.return?.(undefined);
    await expect(first)
      .rejects.toBeInstanceOf(CancelledError)
      .catch(async () => expect((await first).done).toBe(true));
    await stillAlive();
  }, 20_000);

  test("[A14] a function that allocates until the heap ends: a clear error, and the session lives on", async () => {
    // Without the ladder, whose look might come before the heap is full.
    const memory = { pause: false, terminate: false } as const;
    const small = sessions.open({ workers: 1, memoryLimit: "256 MiB", maxOomRetries: 0, worker: { memory } });
    const error = await failure(
      small
        .range(10)
        .map(
          (row) => {
            const kept: unknown[] = [];
            for (;;) kept.push({ row, filler: [row.id, row.id] });
          },
          { maxOomRetries: 0 },
        )
        .takeAll(),
    );
    expect(error).toBeInstanceOf(OutOfMemoryError);
    expect(error.message).toMatch(/heap/i);
    expect(
      await small
        .range(10)
        .map((row) => ({ id: row.id }))
        .count(),
    ).toBe(10);
  });

  test("[A14] onError skip drops the rows that fail, and counts them", async () => {
    const ds = s.range(1000).map(
      (row) => {
        if (row.id % 100 === 0) throw new Error("bad");
        return { id: row.id };
      },
      { onError: "skip" },
    );
    expect((await ds.takeAll()).length).toBe(990);
  });

  test("[A14] onError deadLetter keeps the rows that fail", async () => {
    const letters = join(sessions.directory, "letters");
    const rows = await s
      .range(1000)
      .map(
        (row) => {
          if (row.id % 100 === 0) throw new Error("bad");
          return { id: row.id };
        },
        { onError: { deadLetter: letters } },
      )
      .takeAll();
    expect(rows.length).toBe(990);
    const dead = await s.readJson(join(letters, "*.jsonl")).takeAll();
    expect(dead.length).toBe(10);
    expect(dead.map((row) => row.value.id).sort((a, b) => a - b)).toEqual([
      0, 100, 200, 300, 400, 500, 600, 700, 800, 900,
    ]);
  });

  test("[A14] maxErroredBlocks lets that many tasks fail", async () => {
    const lenient = sessions.open({ workers: 1, maxErroredBlocks: 2 });
    const bad = (n: number) =>
      lenient.range(100, { overrideNumBlocks: 10 }).map((row) => {
        if (row.id % 10 === 3 && row.id < n * 10) throw new Error("bad");
        return { id: row.id };
      });
    expect((await bad(2).takeAll()).length).toBe(80);
    expect(await failure(bad(3).takeAll())).toBeInstanceOf(FunctionError);
  });
});

describe("empty and odd data", () => {
  test("[A1] an empty dataset goes through everything", async () => {
    const empty = s.range(0).map((row) => ({ id: row.id }));
    expect(await empty.takeAll()).toEqual([]);
    expect(await empty.count()).toBe(0);
    expect(await s.fromItems([]).takeAll()).toEqual([]);
    const out = join(sessions.directory, "empty");
    mkdirSync(out);
    await s.range(0).writeParquet(out);
    expect(await s.readParquet(out).count()).toBe(0);
  });

  test("[A13] an int64 past 2^53 is an error that says what to ask for", async () => {
    const big = s.fromItems([{ v: 2n ** 60n }]);
    const error = await failure(big.takeAll());
    expect(error.message).toContain('int64: "bigint"');
    expect(error.message).toContain("v");
    await stillAlive();
  });
});

describe("packed files that were cut short", () => {
  const rows = Array.from({ length: 60_000 }, (_, i) => `${i},${(i * 7919) % 100_003}\n`).join("");
  const objects = Array.from({ length: 60_000 }, (_, i) => `{"id":${i},"v":${(i * 7919) % 100_003}}\n`).join("");
  const cutShort =
    /packed\.\S+ cannot be read: it was cut short: its packed data ends too early\. Write or copy it again/;

  function packed(name: string, bytes: Uint8Array): string {
    const path = join(sessions.directory, `packed.${name}`);
    writeFileSync(path, bytes);
    return path;
  }

  test("[A18] gzip: a whole number of rows, half a number, or only the checksum is missing", async () => {
    const csv = zlib.gzipSync(`id,v\n${rows}`);
    for (const end of [csv.length - 4, csv.length - 8, csv.length - 100, csv.length >> 1]) {
      const ds = s.readCsv<{ id: number; v: number }>(packed(`${end}.csv.gz`, csv.subarray(0, end)));
      await expect(ds.count()).rejects.toThrow(cutShort);
      await expect(ds.agg({ sum: col("v").sum() })).rejects.toThrow(cutShort);
      await expect(ds.map((row) => ({ v: row.v })).takeAll()).rejects.toThrow(cutShort);
      await expect(ds.writeParquet(join(sessions.directory, `never-${end}`))).rejects.toThrow(cutShort);
      expect(existsSync(join(sessions.directory, `never-${end}`))).toBe(false);
      expect(await ds.take(2)).toEqual([
        { id: 0, v: 0 },
        { id: 1, v: 7919 },
      ]);
    }
    const json = zlib.gzipSync(objects);
    for (const end of [json.length - 4, json.length >> 1]) {
      const ds = s.readJson(packed(`${end}.json.gz`, json.subarray(0, end)));
      await expect(ds.count()).rejects.toThrow(cutShort);
    }
    const text = s.readText(packed("text.gz", csv.subarray(0, csv.length - 4)));
    await expect(text.count()).rejects.toThrow(cutShort);
    const damaged = Buffer.from(csv);
    damaged.writeInt32LE(damaged.readInt32LE(csv.length - 8) ^ 1, csv.length - 8);
    await expect(s.readCsv(packed("damaged.csv.gz", damaged)).count()).rejects.toThrow(/a gzip file, but damaged/);
    await stillAlive();
  });

  test("[A18] gzip: whole ones are read, of several members too, and with ignoreErrors what there is", async () => {
    const members = Buffer.concat([zlib.gzipSync(`id,v\n${rows}`), zlib.gzipSync("1,2\n")]);
    expect(await s.readCsv(packed("members.csv.gz", members)).count()).toBe(60_001);
    const half = zlib.gzipSync(`id,v\n${rows}`).subarray(0, 50_000);
    const some = await s.readCsv(packed("some.csv.gz", half), { ignoreErrors: true }).count();
    expect(some).toBeGreaterThan(1000);
    expect(some).toBeLessThan(60_000);
  });

  test("[A18] zstd: told from where its blocks end", async () => {
    const ds = s.range(60_000, { overrideNumBlocks: 1 }).withColumn("v", col("id").multiply(7919).modulo(100_003));
    const { files } = await ds.writeCsv(join(sessions.directory, "zstd"), { compression: "zstd" });
    const whole = readFileSync(files[0] ?? "");
    expect(await s.readCsv(packed("whole.csv.zst", whole)).count()).toBe(60_000);
    expect(await s.readCsv(packed("twice.csv.zst", Buffer.concat([whole, whole])), { allText: true }).count()).toBe(
      120_001,
    );
    // Node's own unpacker stops after the first frame, without an error.
    expect(await s.readText(packed("twice.txt.zst", Buffer.concat([whole, whole]))).count()).toBe(120_002);
    const decoded = s.readText(packed("decoded.txt.zst", Buffer.concat([whole, whole])), { badBytes: "replace" });
    if ("createZstdDecompress" in zlib) expect(await decoded.count()).toBe(120_002);
    else await expect(decoded.count()).rejects.toThrow("Use Node 22.15 or later");
    for (const end of [whole.length - 1, whole.length - 100, whole.length >> 1]) {
      await expect(s.readCsv(packed(`${end}.csv.zst`, whole.subarray(0, end))).count()).rejects.toThrow(cutShort);
      const text = s.readText(packed(`${end}.txt.zst`, whole.subarray(0, end))).count();
      await expect(text).rejects.toThrow(/cannot be read/);
    }
  });
});
