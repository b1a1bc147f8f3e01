import { expect, test } from 'vitest';
import { toVideoTimes } from '../../../../lambdas/functions/wiring/videos.ts';
import { readSettings } from '../../../../lambdas/settings.ts';
import { noTables } from '../../../support/memory/memory-stores.ts';

test('VID-7 the limits of a video come from the settings, in ms', () => {
  const settings = readSettings({
    ...noTables,
    VIDEO_CREATE_SECONDS: '7',
    VIDEO_LIMIT_SECONDS: '100',
    VIDEO_HOLD_SECONDS: '300',
  });
  expect(toVideoTimes(settings)).toMatchObject({ createMs: 7_000, limitMs: 100_000 });
});
