import { readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Returns a unique name of a process, or undefined if the process has ended. Starts with the pid. On Linux the boot,
 * the clock tick of the start and the PID namespace follow, because pids are reused and another container has the same
 * ones. Other platforms have the pid alone.
 */
export function processIdentity(pid: number): string | undefined {
  if (process.platform !== 'linux') return isAlive(pid) ? String(pid) : undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets and may itself hold spaces and brackets.
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (state === 'Z' || state === 'X') return undefined;
    return `${pid}@${bootId()}+${rest[18]}-${pidNamespace()}`;
  } catch {
    return undefined;
  }
}

/** Whether the process of an identity runs. A process in another PID namespace is invisible and counts as running. */
export function isRunning(identity: string): boolean {
  const pid = Number.parseInt(identity, 10);
  if (!(pid > 0)) return false;
  return processIdentity(pid) === identity || isElsewhere(identity);
}

function isElsewhere(identity: string): boolean {
  if (process.platform !== 'linux') return false;
  const [, boot, namespace] = /^\d+@(.+)\+\d+-(\d+)$/.exec(identity) ?? [];
  return boot === bootId() && namespace !== pidNamespace();
}

const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

/** The number in `pid:[4026531836]`. */
const pidNamespace = (): string => readlinkSync('/proc/self/ns/pid').replace(/\D/g, '');

/** Returns the command line of a process; empty if it has ended, is a zombie, or the platform has no /proc. */
export function commandLine(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').filter(Boolean);
  } catch {
    return [];
  }
}

/** Sends SIGTERM, waits, then sends SIGKILL, as long as `isStillIt` confirms that the pid belongs to the process. */
export async function stopByPid(pid: number, isStillIt: () => boolean, graceMs = 3_000): Promise<void> {
  const killAt = Date.now() + graceMs;
  const giveUpAt = killAt + graceMs;
  sendSignal(pid, 'SIGTERM', isStillIt);
  let killed = false;
  while (isStillIt()) {
    if (Date.now() >= giveUpAt) throw new Error(`Process ${pid} does not end; stop it by hand and start again.`);
    if (Date.now() >= killAt && !killed) {
      killed = true;
      sendSignal(pid, 'SIGKILL', isStillIt);
    }
    await sleep(20);
  }
}

function sendSignal(pid: number, signal: 'SIGTERM' | 'SIGKILL', isStillIt: () => boolean): void {
  if (!isStillIt()) return;
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
