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
      find: 'value.length < LETTERS_LEAST ? undefined : value',
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
  ...bugsIn('lambdas/protocols/fields.ts', 'test/lambdas/protocols/fields.test.ts', [
    {
      id: 'unknown-field-sent',
      what: 'A field that the gateway does not know goes to the vendor and may cost money there.',
      find: '  if (!policy) return member;\n',
      replace: '  if (policy) return member;\n',
    },
    {
      id: 'null-that-means-something-removed',
      what: 'A null that the model should read does not reach it.',
      find: '&& !policy?.nullable?.includes(name)',
      replace: '',
    },
    {
      id: 'copied-field-listed',
      what: 'A client that sends back an earlier response is refused where parameters are required.',
      find: "  if (unknown === 'accept') return;\n",
      replace: '',
    },
    {
      id: 'misspelled-cap-ignored',
      what: 'A response is longer, and costs more, than the client asked for under a misspelled name.',
      find: 'EDITS_MAX = 2',
      replace: 'EDITS_MAX = 0',
    },
  ]),
];
