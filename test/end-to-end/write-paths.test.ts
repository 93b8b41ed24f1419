/** Where a write goes: local directories, whatever their names. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { sql, WriteError } from "spillway";
import { describe, expect, test } from "vitest";
import { testSessions } from "../support/sessions.ts";

const sessions = testSessions("write-paths");
const s = sessions.open();
let outs = 0;
const fresh = () => join(sessions.directory, `out-${outs++}`);

function put(path: string, text = "mine"): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const overwrite = { mode: "overwrite" } as const;

describe("paths", () => {
  test.each(["Parquet", "Csv", "Json", "Arrow"] as const)(
    "[A11] write%s refuses what is no local path",
    async (format) => {
      for (const url of ["s3://bucket/out", "gs://b", "hdfs://n/x", "S3://B/x", "s3:/bucket/joined", "https://h/x"]) {
        const refused = s.range(3)[`write${format}`](url);
        await expect(refused).rejects.toThrow(WriteError);
        await expect(refused).rejects.toThrow(`${url} is not a local path. Only local files can be written.`);
      }
      expect(existsSync("s3:")).toBe(false);
    },
  );

  test("[A11] a file URL is the path that it names, as for readers", async () => {
    const out = fresh();
    await s.range(3).writeParquet(`file://${out}`);
    await s.range(3).writeParquet(new URL(`file://${out}`), { mode: "append" });
    expect(await s.readParquet(new URL(`file://${out}`)).count()).toBe(6);
    expect(await s.readParquet(`file://${out}`).count()).toBe(6);
    for (const url of ["file://host/out", "file:out", "file:///a%2Fb"]) {
      await expect(s.range(3).writeParquet(url), url).rejects.toThrow(/is not a local path/);
      expect(() => s.readParquet(url), url).toThrow(/is not a local path/);
    }
    expect(() => s.readParquet(new URL("https://h/x"))).toThrow(/is not a local path/);
  });

  test("[A11] dead letters and the session's own directories are local, too", async () => {
    const options = { onError: { deadLetter: "s3://bucket/dead" } };
    expect(() => s.range(3).map((row) => row, options)).toThrow(/s3:\/\/bucket\/dead is not a local path/);
    expect(() => sessions.open({ localDirectory: "s3://bucket/spill" })).toThrow(
      /s3:\/\/bucket\/spill is not a local path/,
    );
  });

  test("[A11] a trailing slash, a relative path, parents that are missing", async () => {
    const out = fresh();
    await s.range(3).writeParquet(`${join(out, "a", "b")}///`);
    await s.range(3).writeParquet(join(out, "a", "..", "a", "b"), overwrite);
    expect(await s.readParquet(join(out, "a", "b")).count()).toBe(3);
    const failing = s.range(3).map(() => {
      throw new Error("no");
    });
    const never = fresh();
    await expect(failing.writeParquet(join(never, "x", "y"))).rejects.toThrow(/no/);
    expect(existsSync(never)).toBe(false);
  });

  test("[A11] a file, and a link that leads nowhere, are no directory", async () => {
    const file = fresh();
    put(file);
    const broken = fresh();
    symlinkSync(join(file, "gone"), broken);
    const nowhere = fresh();
    symlinkSync(fresh(), nowhere);
    for (const mode of ["error", "append", "overwrite"] as const) {
      await expect(s.range(3).writeParquet(file, { mode })).rejects.toThrow(/is a file/);
      await expect(s.range(3).writeParquet(join(file, "below"), { mode })).rejects.toThrow(/is not a directory/);
      await expect(s.range(3).writeParquet(broken, { mode })).rejects.toThrow(/is a link to/);
      await expect(s.range(3).writeParquet(nowhere, { mode })).rejects.toThrow(/is a link to/);
    }
    expect(readFileSync(file, "utf8")).toBe("mine");
    rmSync(broken);
    rmSync(nowhere);
  });

  test("[A11] names that cannot be are refused before anything runs", async () => {
    let ran = false;
    const rows = s.range(3).filter(sql("error('it ran')::BOOLEAN"));
    for (const path of [fresh() + "x".repeat(256), `/${"x/".repeat(3000)}`, `${fresh()}\0b`]) {
      const error = await rows.writeParquet(path).catch((error: Error) => error);
      expect(String(error)).toMatch(/ENAMETOOLONG|NUL/);
      ran ||= /it ran/.test(String(error));
    }
    expect(ran).toBe(false);
  });

  test("[A11] dead letters that cannot be written are an error that names their directory", async () => {
    const lettersTo = (deadLetter: string) =>
      s.range(3).map(
        () => {
          throw new Error("no");
        },
        { onError: { deadLetter } },
      );
    expect(() => lettersTo("/dev/null/letters")).toThrow(
      "/dev/null/letters cannot be made: /dev/null is not a directory",
    );
    const at = fresh();
    const failing = lettersTo(join(at, "letters"));
    writeFileSync(at, "a file has come in its place");
    await expect(failing.count()).rejects.toMatchObject({ name: "WriteError", path: join(at, "letters") });
  });

  test("[A11] dead letters go where the path led when it was given", async () => {
    const at = fresh();
    const failing = s.range(3).map(
      (row) => {
        if (row.id === 1) throw new Error("no");
        return row;
      },
      { onError: { deadLetter: relative(process.cwd(), at) } },
    );
    expect(await failing.count()).toBe(2);
    expect(readdirSync(at).length).toBe(1);
  });

  test("[A11] a directory with the longest name there is", async () => {
    const out = join(fresh(), "x".repeat(255));
    await s.range(3).writeParquet(out);
    await s.range(4).writeParquet(out, overwrite);
    expect(await s.readParquet(out).count()).toBe(4);
    expect(basename(out).length).toBe(255);
  });
});
