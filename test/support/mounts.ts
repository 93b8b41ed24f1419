/** Small file systems that tests mount, if root allows it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bytes } from "../../src/protocol/index.ts";
import { type Missing, requires } from "./requires.ts";

const cannotMount: Missing = (() => {
  const at = mkdtempSync(join(tmpdir(), "spillway-test-mount-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", at], { stdio: "ignore" });
    execFileSync("umount", [at]);
    return null;
  } catch {
    return "only root can mount a small tmpfs";
  } finally {
    rmSync(at, { recursive: true });
  }
})();

export const withMounts = requires("a mount", cannotMount);

/** A real file system of this size; the returned function unmounts it. */
export function mountTmpfs(at: string, size: Bytes): () => void {
  mkdirSync(at, { recursive: true });
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", at]);
  return () => execFileSync("umount", [at]);
}

export function remount(at: string, how: "ro" | "rw"): void {
  execFileSync("mount", ["-o", `remount,${how}`, at]);
}
