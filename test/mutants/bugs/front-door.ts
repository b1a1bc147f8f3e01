import { bugsIn, type MoneyBug } from './money-bug.ts';

const doorTests = 'test/lambdas/http/front-door.test.ts';
const openingTests = 'test/lambdas/functions/wiring/front-door.test.ts';
const pepperTests = 'test/lambdas/core/accounts/admit-older-peppers.test.ts';

/** Who gets to the ledger at all. */
export const frontDoorBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/http/front-door.ts', doorTests, [
    {
      id: 'empty-secret-opens-the-door',
      what: 'Where the secret of the edge is empty, everybody comes in beside the edge and its firewall.',
      find: "secret !== '' && secrets.filter(",
      replace: 'secrets.filter(',
    },
    {
      id: 'address-by-the-word-of-the-client',
      what: 'Behind the edge a client chooses the address that its requests are counted under.',
      find: "viewerAddress(headers['cloudfront-viewer-address'])",
      replace: "headers['x-forwarded-for'] ?? viewerAddress(headers['cloudfront-viewer-address'])",
    },
  ]),
  ...bugsIn('lambdas/functions/wiring/secrets.ts', openingTests, [
    {
      id: 'guessable-secret-of-the-edge',
      what: 'A secret of a few letters, or of none, is taken for one that keeps somebody out.',
      find: 'value.length < SECRET_LENGTH_MIN ? undefined : value',
      replace: 'value.length < 0 ? undefined : value',
    },
  ]),
  ...bugsIn('lambdas/core/accounts/admit.ts', pepperTests, [
    {
      id: 'older-pepper-never-tried',
      what: 'When the pepper is changed, nobody with a key from before gets at the money of the account.',
      find: "if (reply.kind !== 'unknown') return reply;",
      replace: 'return reply;',
    },
  ]),
];
