import { expect, test } from 'vitest';
import { keepRefreshing } from '../../../../lambdas/functions/wiring/refreshing-value.ts';
import { ManualClock } from '../../../support/memory/manual-clock.ts';

const PAUSE_MS = 10_000;

/** Creates a refreshing value whose reads a test resolves or rejects. */
const createScene = () => {
  const clock = new ManualClock();
  const reads: PromiseWithResolvers<string>[] = [];
  const failures: unknown[] = [];
  const kept = keepRefreshing('first', {
    read: () => {
      const read = Promise.withResolvers<string>();
      reads.push(read);
      return read.promise;
    },
    clock,
    pauseMs: PAUSE_MS,
    onFailure: (error) => failures.push(error),
  });
  return { clock, reads, failures, kept };
};

test('AUTH-9 a value that was just read is not read again', async () => {
  const { clock, reads, kept } = createScene();
  for (let index = 0; index < 100; index += 1) await kept.refresh();
  await clock.advance(PAUSE_MS - 1);
  await kept.refresh();
  expect(reads).toHaveLength(0);
});

test('AUTH-9 all callers during a read wait for that read', async () => {
  const { clock, reads, kept } = createScene();
  await clock.advance(PAUSE_MS);
  const waiting = Promise.all(Array.from({ length: 100 }, () => kept.refresh()));
  expect(reads).toHaveLength(1);
  expect(kept.current()).toBe('first');
  reads[0]?.resolve('second');
  await waiting;
  expect(kept.current()).toBe('second');
  await kept.refresh();
  expect(reads).toHaveLength(1);
});

test('ERR-3 a read that hangs does not block the next, and changes nothing when it ends', async () => {
  const { clock, reads, failures, kept } = createScene();
  await clock.advance(PAUSE_MS);
  void kept.refresh();
  clock.skip(3_600_000);
  const waiting = kept.refresh();
  expect(reads).toHaveLength(2);
  reads[1]?.resolve('third');
  await waiting;
  reads[0]?.resolve('second');
  await clock.flush();
  expect(kept.current()).toBe('third');
  clock.skip(PAUSE_MS);
  void kept.refresh();
  clock.skip(PAUSE_MS);
  void kept.refresh();
  reads[2]?.reject(new Error('broken off'));
  reads[3]?.resolve('fourth');
  await clock.flush();
  expect([kept.current(), failures]).toEqual(['fourth', []]);
});

test('AUTH-9 a value is read again after the clock stepped back', async () => {
  const { clock, reads, kept } = createScene();
  clock.skip(-3_600_000);
  void kept.refresh();
  expect(reads).toHaveLength(1);
});
