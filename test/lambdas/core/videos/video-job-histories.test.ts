import fc from 'fast-check';
import { expect, test } from 'vitest';
import { randomRuns } from '../../../support/random-runs.ts';
import { VideoHistory } from './video-history.ts';

const runs = randomRuns(import.meta.filename, { quick: 150, long: 2_000 });

const plans = fc.array(
  fc.record({
    create: fc.constantFrom(
      'accepts',
      'accepts',
      'accepts',
      'accepts',
      'accepts',
      'refuses',
      'breaks',
      'accepts-silently',
    ),
    later: fc.constantFrom(
      'finishes',
      'finishes',
      'finishes',
      'fails',
      'stalls',
      'vanishes',
      'is-unclear',
      'breaks-once',
      'breaks',
    ),
    polls: fc.nat({ max: 4 }),
    tokens: fc.array(fc.constantFrom(80_000, 90_000, 120_000, 1_000_000), { maxLength: 2 }),
  }),
  { maxLength: 4 },
);
const numbers = fc.noBias(fc.array(fc.nat({ max: 2 ** 20 }), { maxLength: 700, size: 'max' }));

const kinds = [
  ...['completed', 'failed', 'refused', 'received its own video', 'received the video of another request'],
  ...[
    'received upstream_error',
    'received upstream_timeout',
    'received service_unavailable',
    'received idempotency_in_progress',
  ],
  ...['released taken_over', 'released expired', 'video_timed_out', 'video_resumed'],
];

test(
  'VID-6 whatever fails, a video ends once, and is charged if and only if it is completed',
  async () => {
    const met = new Map<string, number>();
    const meet = (what: string) => met.set(what, (met.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(numbers, plans, async (choices, vendor) => {
        const history = new VideoHistory(choices, vendor);
        await history.play();
        for (const what of history.met()) meet(what);
      }),
      // Shrinking has a time limit, because a history can be shortened in many ways.
      { ...runs, interruptAfterTimeLimit: 30_000 + runs.numRuns * 200, markInterruptAsFailure: true },
    );
    // A long run must contain histories of every kind, or it proves little.
    if (runs.numRuns < 1_000) return;
    for (const what of kinds) expect(met.get(what) ?? 0, what).toBeGreaterThan(runs.numRuns / 50);
  },
  60_000 + runs.numRuns * 300,
);
