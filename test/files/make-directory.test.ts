import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { expect, test, vi } from "vitest";
import { makeDirectory } from "../../src/files/index.ts";
import { temporaryDirectory } from "../support/temporary.ts";

/** Who comes between the making of a directory's parent and its own: another session that ends at this moment. */
const robber = vi.hoisted(() => ({ path: "", times: 0 }));

vi.mock("node:fs", async (importOriginal) => {
  const real = await importOriginal<typeof fs>();
  const mkdirSync = (path: string, options: fs.MakeDirectoryOptions) => {
    if (path === robber.path && robber.times > 0 && real.existsSync(dirname(path))) {
      robber.times -= 1;
      real.rmdirSync(dirname(path));
    }
    return real.mkdirSync(path, options);
  };
  return { ...real, mkdirSync };
});

const directory = temporaryDirectory("make-directory");

test("[A15] a parent that another process removes at the same moment is made again", () => {
  const path = join(directory, "shared", "own");
  Object.assign(robber, { path, times: 3 });
  expect(makeDirectory(path)).toBe(dirname(path));
  expect([robber.times, fs.existsSync(path)]).toEqual([0, true]);
  expect(makeDirectory(path)).toBe(null);
});

test("[A15] what can never be made is an error at once: a file in the way, a file system that takes no directories", () => {
  const file = join(directory, "file");
  fs.writeFileSync(file, "");
  expect(() => makeDirectory(file)).toThrow(/EEXIST/);
  expect(() => makeDirectory(join(file, "below"))).toThrow(/ENOTDIR/);
  expect(() => makeDirectory("/proc/no/such/directory")).toThrow(/ENOENT/);
});
