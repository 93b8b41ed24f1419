/**
 * A control group that counts the CPU time, user and system, of all processes that run or ran in it. It limits nothing.
 * Needs root and a writable cgroup (v1 cpuacct controller, or v2). Without these, asking for the group is an error:
 * sums from /proc would miss processes that ended between two reads.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ControlGroup, makeGroup, whyNoGroup } from "./control-group.ts";

export interface CpuGroup extends ControlGroup {
  /** CPU seconds of all processes that are or were in it. */
  used(): Promise<number>;
}

interface Version {
  readonly root: string;
  /** A file that exists wherever this version can count. */
  readonly mark: string;
  readonly counter: string;
  seconds(text: string): number;
}

const V1: Version = {
  root: "/sys/fs/cgroup/cpuacct",
  mark: "cpuacct.usage",
  counter: "cpuacct.usage",
  seconds: (nanoseconds) => Number(nanoseconds) / 1e9,
};

/** Counts in every group, whether the cpu controller is enabled there or not. */
const V2: Version = {
  root: "/sys/fs/cgroup",
  mark: "cgroup.controllers",
  counter: "cpu.stat",
  seconds: (text) => Number(/^usage_usec (\d+)$/m.exec(text)?.[1]) / 1e6,
};

const TO_DO = "Run it as root on Linux; in a container, with a writable /sys/fs/cgroup (docker run --privileged).";

/** Why no such group can be made here; null if one can. */
export function whyNoCpuGroup(): Promise<string | null> {
  return whyNoGroup(makeCpuGroup);
}

export async function makeCpuGroup(): Promise<CpuGroup> {
  const version = [V1, V2].find(({ root, mark }) => existsSync(join(root, mark)));
  if (version === undefined) {
    throw new Error(
      `CPU time of all processes cannot be counted: neither ${join(V1.root, V1.mark)} (cgroup v1) nor ` +
        `${join(V2.root, V2.mark)} (cgroup v2) is there. ${TO_DO}`,
    );
  }
  const group = await makeGroup(version.root, "cpu").catch((cause: unknown) => {
    throw new Error(
      `CPU time of all processes cannot be counted: no control group can be made in ${version.root}. ${TO_DO}`,
      { cause },
    );
  });
  const used = async (): Promise<number> => version.seconds(await readFile(join(group.path, version.counter), "utf8"));
  return { ...group, used };
}
