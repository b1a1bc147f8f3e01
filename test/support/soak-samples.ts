import { readdirSync, readFileSync } from 'node:fs';

/** Resources of a process, as Linux reports them. */
export interface Sample {
  /** Time by `performance.now()`, in ms. */
  readonly at: number;
  readonly rssBytes: number;
  readonly descriptors: number;
}

export function sampleProcess(pid: number): Sample {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return {
    at: performance.now(),
    rssBytes: Number(kilobytes) * 1_024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

export interface Trend {
  /** Median of the second quarter of the samples. `last` is the median of the last quarter. */
  readonly second: number;
  readonly last: number;
  readonly isFlat: boolean;
}

/** The values grow if the last median exceeds the second times this factor, plus `slack`. */
const GROWTH = 1.25;

export function trendOf(samples: readonly Sample[], of: Exclude<keyof Sample, 'at'>, slack: number): Trend {
  const values = samples.map((sample) => sample[of]);
  const quarter = values.length / 4;
  const second = median(values.slice(Math.floor(quarter), Math.floor(2 * quarter)));
  const last = median(values.slice(Math.floor(3 * quarter)));
  return { second, last, isFlat: last <= second * GROWTH + slack };
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
