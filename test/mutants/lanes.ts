import { fork } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stopOrphan } from '../../local/child-process.ts';
import type { Trial } from './lane.ts';
import type { Outcome } from './outcome.ts';

export interface Lanes {
  /** Runs the trials, several concurrently, and reports each when it ends. Rejects after `close`. */
  run(trials: readonly Trial[], onEnd: (trial: Trial, outcome: Outcome) => void): Promise<void>;
  /** Kills every process and removes every file of the trials. */
  close(): Promise<void>;
}

export interface LanesOptions {
  readonly count: number;
  readonly projects: readonly string[];
  /** A trial that takes longer is killed and counts as broken. */
  readonly trialMsMax: number;
}

interface Lane {
  run(trial: Trial): Promise<Outcome>;
  hasEnded(): boolean;
  /** Kills the process and its workers. */
  kill(): Promise<void>;
}

export const openLanes = ({ count, projects, trialMsMax }: LanesOptions): Lanes => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-mistakes-'));
  const started = new Set<Lane>();
  let closing: Promise<void> | undefined;

  const start = (): Lane => {
    if (closing) throw new Error('stopped');
    const lane = startLane(projects, folder, trialMsMax);
    started.add(lane);
    return lane;
  };

  const close = async (): Promise<void> => {
    await Promise.all([...started].map((lane) => lane.kill()));
    // A database that a test started has its own process group and outlives a killed worker.
    for (const note of globSync('**/child.json', { cwd: folder })) await stopOrphan(dirname(join(folder, note)));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };

  return {
    async run(trials, onEnd) {
      const waiting = trials.values();
      const work = async (): Promise<void> => {
        let lane = start();
        for (const trial of waiting) {
          if (lane.hasEnded()) lane = start();
          const outcome = await lane.run(trial);
          if (closing) throw new Error('stopped');
          onEnd(trial, outcome);
        }
      };
      await Promise.all(Array.from({ length: Math.min(count, trials.length) }, work));
    },
    close: () => (closing ??= close()),
  };
};

const startLane = (projects: readonly string[], folder: string, trialMsMax: number): Lane => {
  // The new process group lets a kill reach the workers too. Their temporary files are in `folder`.
  const child = fork(join(import.meta.dirname, 'lane.ts'), projects, {
    detached: true,
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exit = once(child, 'exit');
  const broken = exit.then(
    ([code, signal]): Outcome => ({ kind: 'broken', message: `the run ended with ${signal ?? `exit code ${code}`}` }),
  );
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const killGroup = (): void => {
    if (child.pid !== undefined && !hasEnded()) process.kill(-child.pid, 'SIGKILL');
  };
  return {
    hasEnded,
    async run(trial) {
      const { promise, resolve } = Promise.withResolvers<Outcome>();
      child.once('message', resolve);
      const timer = setTimeout(killGroup, trialMsMax);
      child.send(trial);
      const outcome = await Promise.race([promise, broken]);
      clearTimeout(timer);
      return outcome;
    },
    async kill() {
      killGroup();
      await exit;
    },
  };
};
