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
  ...['completed', 'failed', 'refused', 'promised', 'promised what another request made'],
  ...['told upstream_error', 'told upstream_timeout', 'told service_unavailable', 'told idempotency_in_progress'],
  ...['released taken_over', 'released expired', 'video_timed_out', 'video_resumed'],
];

test(
  'VID-6 in every history of failures a video ends once, and is charged exactly when it is completed',
  async () => {
    const met = new Map<string, number>();
    const meet = (what: string) => met.set(what, (met.get(what) ?? 0) + 1);
    await fc.assert(
      fc.asyncProperty(numbers, plans, async (choices, vendor) => {
        const history = new VideoHistory(choices, vendor);
        await history.play();
        for (const what of history.met()) meet(what);
      }),
      // A history is made shorter for a while only: there are many ways to.
      { ...runs, interruptAfterTimeLimit: 30_000 + runs.numRuns * 200, markInterruptAsFailure: true },
    );
    // The histories are of every kind, or they prove little.
    if (runs.numRuns < 1_000) return;
    for (const what of kinds) expect(met.get(what) ?? 0, what).toBeGreaterThan(runs.numRuns / 50);
  },
  60_000 + runs.numRuns * 300,
);
