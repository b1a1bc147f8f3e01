import { bugsIn } from './money-bug.ts';

/** Mistakes by which a client or this machine disables a model that works. */
export const circuitBugs = [
  ...bugsIn('lambdas/core/circuit/local-circuit.ts', 'test/lambdas/core/circuit/local-circuit-timeouts.test.ts', [
    {
      id: 'two-accounts-time-out-for-all',
      what: 'Long requests of two accounts disable a model for all accounts.',
      find: 'const isForAll = this.#timeouts.size >= Math.max(TIMED_OUT_ACCOUNTS_MIN, failures);',
      replace: 'const isForAll = [...this.#timeouts.values()].reduce((sum, each) => sum + each, 0) >= failures;',
    },
    {
      id: 'success-keeps-timeouts',
      what: 'Timeouts of five accounts disable a model although it served calls in between.',
      find: '    this.#timeouts.clear();\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/core/paid-call/deadline.ts', 'test/lambdas/core/paid-call/deadline.test.ts', [
    {
      id: 'long-stream-is-a-failure',
      what: 'Streams that are longer than the deadline disable a model.',
      find: 'waitMs < fullMs || hasResponded(controller.signal)',
      replace: 'waitMs < fullMs',
    },
    {
      id: 'front-door-is-a-failure',
      what: 'Speech that is longer than the time of the front door disables its model.',
      find: 'waitMs < fullMs || hasResponded(controller.signal)',
      replace: 'hasResponded(controller.signal)',
    },
  ]),
  ...bugsIn('lambdas/core/circuit/breaker.ts', 'test/lambdas/core/circuit/breaker-pauses.test.ts', [
    {
      id: 'sleep-is-a-failure',
      what: 'A laptop that slept disables every model that it was calling.',
      find: "reported !== 'succeeded' && hasPaused?.() ? 'unknown' : reported",
      replace: 'reported',
    },
  ]),
  ...bugsIn('lambdas/providers/local-failure.ts', 'test/lambdas/providers/local-failure.test.ts', [
    {
      id: 'lack-of-descriptors-is-a-failure',
      what: 'A process without free descriptors disables every model.',
      find: "  'EMFILE',\n",
      replace: '',
    },
  ]),
];
