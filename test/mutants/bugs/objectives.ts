import { bugsIn } from './money-bug.ts';

const reporting = bugsIn(
  'lambdas/functions/wiring/reporting.ts',
  'test/lambdas/functions/wiring/reporting-objectives.test.ts',
  [
    {
      id: 'paid-failure-unseen',
      what: 'Paid requests that the gateway fails count as available, so no alarm pages.',
      find: '  if (ours.has(errorCode)) return 1;\n',
      replace: '',
    },
    {
      id: 'provider-failure-pages',
      what: 'A 503 of a provider counts as a failure of the gateway and pages.',
      find: 'if (errorCode === undefined || providerFailed) return 0;',
      replace: 'if (errorCode === undefined) return 0;',
    },
    {
      id: 'client-errors-hide-failures',
      what: 'Rejected requests of one client raise the counted requests, so failures stay below the alarm.',
      find: '>= 500 ? 0 : undefined',
      replace: '>= 500 ? 0 : 0',
    },
  ],
);

const providerTime = bugsIn(
  'lambdas/core/paid-call/with-paid-call.ts',
  'test/lambdas/core/paid-call/with-paid-call-provider-time.test.ts',
  [
    {
      id: 'provider-time-counts-as-added',
      what: 'The time of the provider is not subtracted, so slow models page.',
      find: 'caller.providerTook?.(callReport.started());',
      replace: 'caller.providerTook?.(0);',
    },
  ],
);

const windows = bugsIn('lib/operations/objectives.ts', 'test/lib/operations/objectives.test.ts', [
  {
    id: 'single-failure-pages',
    what: 'One failed request pages while traffic is low.',
    find: 'const FAILURES_MIN = 10;',
    replace: 'const FAILURES_MIN = 1;',
  },
]);

/** Mistakes in what the alarms on the objectives count. */
export const objectiveBugs = [...reporting, ...providerTime, ...windows];
