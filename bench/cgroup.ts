import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Limits of one process by Linux control groups, of either version. */
export interface Cgroup {
  /** Moves itself into the group, then becomes the command after it. */
  readonly launcher: readonly string[];
  /** Limits the share of one CPU. */
  setCpu(share: number): void;
  /** CPU time used by the group, in ms. */
  cpuMs(): number;
  remove(): void;
}

/**
 * Length of the interval in which the kernel limits CPU time, in microseconds. AWS publishes none. A short interval
 * throttles even short bursts, so it does not flatter small functions.
 */
const PERIOD = 20_000;

/**
 * Creates a group with a limit of memory. Throws an Error where the kernel does not allow it, such as without root.
 */
export const createCgroup = (name: string, memoryMb: number): Cgroup => {
  const hasTwo = existsSync('/sys/fs/cgroup/cgroup.controllers');
  const folderOf = (controller: string): string => join('/sys/fs/cgroup', hasTwo ? '' : controller, name);
  const folders = [...new Set(['cpu', 'memory', 'cpuacct'].map(folderOf))];
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  const bytes = String(memoryMb * 1_024 * 1_024);
  writeFileSync(join(folderOf('memory'), hasTwo ? 'memory.max' : 'memory.limit_in_bytes'), bytes);
  const joins = folders.map((folder) => `echo $$ > ${join(folder, 'cgroup.procs')}`).join(' && ');
  return {
    launcher: ['sh', '-c', `${joins} && exec "$@"`, 'sh'],
    setCpu: (share) => {
      const quota = String(Math.round(share * PERIOD));
      if (hasTwo) writeFileSync(join(folderOf('cpu'), 'cpu.max'), `${quota} ${PERIOD}`);
      else {
        writeFileSync(join(folderOf('cpu'), 'cpu.cfs_period_us'), String(PERIOD));
        writeFileSync(join(folderOf('cpu'), 'cpu.cfs_quota_us'), quota);
      }
    },
    cpuMs: () => {
      if (!hasTwo) return Number(readFileSync(join(folderOf('cpuacct'), 'cpuacct.usage'), 'utf8')) / 1_000_000;
      const [, used] = /^usage_usec (\d+)$/m.exec(readFileSync(join(folderOf('cpu'), 'cpu.stat'), 'utf8')) ?? [];
      return Number(used) / 1_000;
    },
    remove: () => {
      for (const folder of folders) rmdirSync(folder);
    },
  };
};
