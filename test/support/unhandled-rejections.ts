import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect } from 'vitest';

/** Fails every test of a file that leaves an unhandled rejection. */
export const expectNoUnhandledRejections = (): void => {
  const escaped: unknown[] = [];
  const note = (reason: unknown) => void escaped.push(reason);
  beforeEach(() => {
    escaped.length = 0;
    process.on('unhandledRejection', note);
  });
  afterEach(async () => {
    await nextTurn();
    process.off('unhandledRejection', note);
    expect(escaped).toEqual([]);
  });
};
