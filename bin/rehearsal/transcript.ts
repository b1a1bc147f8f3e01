import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 100;
const WAIT_MS = 60_000;

export interface Transcript {
  /** Runs a step, and prints its start, its duration and what it returns. Returns the duration in ms. */
  step(name: string, work: () => Promise<string>): Promise<number>;
  /** Prints one line without a time. */
  line(text: string): void;
}

/** Creates a transcript. The first column is the time since its creation, the second the duration of the step. */
export const createTranscript = (print: (text: string) => void): Transcript => {
  const beganAtMs = performance.now();
  return {
    step: async (name, work) => {
      const startedAtMs = performance.now();
      const result = await work();
      const tookMs = performance.now() - startedAtMs;
      print(`${seconds(startedAtMs - beganAtMs)}  ${seconds(tookMs)}  ${name}: ${result}\n`);
      return tookMs;
    },
    line: (text) => print(`${text}\n`),
  };
};

export const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`.padStart(8);

/** Polls until the check returns true. Throws an Error after a minute. */
export const until = async (what: string, check: () => Promise<boolean> | boolean): Promise<void> => {
  const endsAtMs = performance.now() + WAIT_MS;
  while (!(await check())) {
    if (performance.now() > endsAtMs) throw new Error(`Waited a minute for ${what}, which did not happen.`);
    await sleep(POLL_MS);
  }
};

/** Throws an Error unless the values are equal. */
export const expectEqual = (what: string, found: unknown, wanted: unknown): void => {
  if (found !== wanted) throw new Error(`${what}: is ${String(found)} and should be ${String(wanted)}.`);
};
