import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as z from 'zod';

const EVERY_MS = 30_000;
/** Memory in bytes above the lowest so far. V8 collects smaller amounts soon enough. */
const EXCESS_BYTES = 32 * 1_024 * 1_024;

export interface Memory {
  /** Memory of all values in bytes, including those that are no longer in use. */
  used(): number;
  /** Collects all garbage, which stops the process for some 50 ms. */
  collect(): void;
}

/** Most checks that are left out after collections that freed little: ten minutes. */
const SKIPPED_MAX = 19;

/**
 * Returns a check that collects garbage if memory is far above the lowest that an earlier check saw. From the second
 * collection in turn that frees little, values in use need the memory, and the next checks are left out.
 */
export const createMemoryCheck = ({ used, collect }: Memory): (() => void) => {
  let lowest = Number.POSITIVE_INFINITY;
  let useless = 0;
  let skips = 0;
  return () => {
    const bytes = used();
    lowest = Math.min(lowest, bytes);
    if (bytes <= lowest + EXCESS_BYTES) useless = skips = 0;
    else if (skips > 0) skips -= 1;
    else {
      collect();
      useless = bytes - used() > EXCESS_BYTES ? 0 : useless + 1;
      skips = Math.min(SKIPPED_MAX, (2 ** useless) >> 2);
    }
  };
};

/**
 * Releases the memory of large bodies after a peak. V8 collects garbage when new values need memory, so the last bodies
 * before a quiet time stay for hours. Returns the end of these checks.
 */
export const startMemoryRelease = (): (() => void) => {
  const check = createMemoryCheck(openMemory());
  check();
  const timer = setInterval(check, EVERY_MS);
  return () => clearInterval(timer);
};

/** V8 has its function `gc` only in contexts that are created after the flag was set. */
const openMemory = (): Memory => {
  setFlagsFromString('--expose-gc');
  const collect = z.custom<() => void>((value) => typeof value === 'function').parse(runInNewContext('gc'));
  setFlagsFromString('--no-expose-gc');
  return {
    used: () => {
      const { used_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics();
      return heapBytes + externalBytes;
    },
    collect,
  };
};
