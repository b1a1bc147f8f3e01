import { bugsIn } from './money-bug.ts';

const choiceTest = 'test/lambdas/providers/credential-choice.test.ts';
const callTest = 'test/lambdas/providers/vendor-call-credentials.test.ts';

/** Mistakes in the choice between several credentials of a provider. */
export const credentialBugs = [
  ...bugsIn('lambdas/providers/credential-choice.ts', choiceTest, [
    {
      id: 'cooling-credential-chosen',
      what: 'A credential that cools down gets calls, so requests fail although another credential is free.',
      find: 'if (free.length > 0) return byWeight(free, this.#deps.random());',
      replace: 'if (free.length > 0) return byWeight(credentials, this.#deps.random());',
    },
    {
      id: 'longest-cooldown-chosen',
      what: 'If all credentials cool down, the gateway uses the one that stays rejected the longest.',
      find: 'endOf(this.#endsOf(provider, each)) < endOf(this.#endsOf(provider, first)) ? each : first,',
      replace: 'endOf(this.#endsOf(provider, each)) > endOf(this.#endsOf(provider, first)) ? each : first,',
    },
    {
      id: 'limit-ends-a-rejection',
      what: 'A 429 shortens the cooldown of a rejected credential, which then fails more requests.',
      find: 'this.#cooldowns.set(nameOf(provider, chosen), { ...ends, limitedMs });',
      replace: 'this.#cooldowns.set(nameOf(provider, chosen), { refusedMs: 0, limitedMs });',
    },
  ]),
  ...bugsIn('lambdas/providers/vendor-call.ts', callTest, [
    {
      id: 'one-credential-pages',
      what: 'One rejected credential of several reports the whole provider as unavailable.',
      find: "if (notice === 'vendor_refused_us' && cooldown?.refused()) return;",
      replace: 'cooldown?.refused();',
    },
    {
      id: 'free-calls-pause-credentials',
      what: 'Token counts, which cost a client nothing, take a credential from the paid requests of others.',
      find: 'limited: cooldown && !call.isFree ?',
      replace: 'limited: cooldown ?',
    },
    {
      id: 'video-polled-by-any-credential',
      what: 'A video is polled with another credential, whose account does not know it, and a paid video fails.',
      find: 'options.access(provider.id, call.credentialId);',
      replace: 'options.access(provider.id);',
    },
  ]),
  ...bugsIn('lambdas/providers/video-answers.ts', callTest, [
    {
      id: 'video-lost-by-another-credential',
      what: 'A video that another credential does not know fails, although its own credential would return it.',
      find: "return { kind: isOwn ? 'gone' : 'unknown' };",
      replace: "return { kind: 'gone' };",
    },
  ]),
  ...bugsIn('lambdas/providers/refusals.ts', callTest, [
    {
      id: 'overload-pauses-credentials',
      what: 'An overload of the whole provider pauses one credential after the other.',
      find: 'const ignoredByCircuit = status === 429 && limited',
      replace: 'const ignoredByCircuit = status >= 429 && limited',
    },
  ]),
  ...bugsIn(
    'lambdas/core/paid-call/with-paid-call.ts',
    'test/lambdas/core/paid-call/with-paid-call-reservation.test.ts',
    [
      {
        id: 'one-credential-opens-the-circuit',
        what: 'The limit of one credential disables the model, although another credential could serve it.',
        find: "if (thrown.ignoredByCircuit) return 'unknown';",
        replace: "if (thrown.ignoredByCircuit) return 'failed';",
      },
    ],
  ),
];
