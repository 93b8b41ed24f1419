import { expect, test } from "vitest";
import { whyProtected } from "../../src/files/index.ts";

const around = { workingDirectory: "/home/ann/project", homes: ["/home/ann"], otherHomes: ["/home/bob", "/"] };

test.each([
  ["/", /root/],
  ["/home", /home directory is in it/],
  ["/home/ann", /a home directory/],
  ["/home/bob", /a home directory/],
  ["/home/ann/project", /the working directory/],
])("[A11] %s is never overwritten", (directory, why) => {
  expect(whyProtected(directory, around)).toMatch(why);
});

test("[A11] what is above the working directory is not overwritten, wherever it is", () => {
  expect(whyProtected("/data", { ...around, workingDirectory: "/data/out/k=1" })).toMatch(/working directory is in it/);
});

test.each(["/home/ann/project/out", "/home/ann/proj", "/home/bobby", "/data"])("[A11] %s may be", (directory) => {
  expect(whyProtected(directory, around)).toBeNull();
});

test("[A11] of this process: its working directory and its home", () => {
  expect(whyProtected(process.cwd())).toMatch(/directory/);
  expect(whyProtected("/")).toMatch(/root/);
});
