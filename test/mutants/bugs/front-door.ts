import { bugsIn, type MoneyBug } from './money-bug.ts';

const doorTests = 'test/lambdas/http/front-door.test.ts';
const openingTests = 'test/lambdas/functions/wiring/front-door.test.ts';
const pepperTests = 'test/lambdas/core/accounts/admit-older-peppers.test.ts';

/** Mistakes that let a caller reach the ledger without permission. */
export const frontDoorBugs: readonly MoneyBug[] = [
  ...bugsIn('lambdas/http/front-door.ts', doorTests, [
    {
      id: 'empty-secret-opens-the-door',
      what: 'With an empty front-door secret, clients can bypass CloudFront and its firewall.',
      find: "secret !== '' && secrets.filter(",
      replace: 'secrets.filter(',
    },
    {
      id: 'address-by-the-word-of-the-client',
      what: 'Behind CloudFront, a client chooses the IP address of its rate limit.',
      find: 'headers[CLIENT_IP_HEADER],\n',
      replace: "headers['x-forwarded-for'] ?? headers[CLIENT_IP_HEADER],\n",
    },
  ]),
  ...bugsIn('lambdas/functions/wiring/secrets.ts', openingTests, [
    {
      id: 'guessable-secret-of-the-edge',
      what: 'A secret of a few characters, or an empty one, counts as protection.',
      find: 'value.length < SECRET_LENGTH_MIN ? undefined : value',
      replace: 'value.length < 0 ? undefined : value',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/rate-bucket.ts', 'test/lambdas/stores/dynamodb/rate-bucket.test.ts', [
    {
      id: 'limiter-uses-one-time',
      what: 'The rate limit uses one time for all updates of a request, so a late update rejects a customer below the limit.',
      find: '  let branch: Branch = expectedTat(',
      replace:
        '  const early = update.now();\n  update = { ...update, now: () => early };\n  let branch: Branch = expectedTat(',
    },
  ]),
  ...bugsIn('lambdas/http/json-body.ts', 'test/lambdas/http/json-body.test.ts', [
    {
      id: 'body-of-endless-parts',
      what: 'A few bodies of millions of empty objects end the process.',
      find: 'if (scan.parts > BODY_PARTS_MAX)',
      replace: 'if (scan.parts > BODY_PARTS_MAX * 10)',
    },
    {
      id: 'items-of-a-body-are-free',
      what: 'Eight bodies of millions of numbers end the process, because only their bytes count.',
      find: ' + items * BODY_ITEM_BYTES',
      replace: ' + items * 0',
    },
    {
      id: 'piece-of-a-body-without-a-member',
      what: 'A large body with a comma before a bracket counts as valid JSON.',
      find: 'isAfterComma && ',
      replace: 'false && ',
    },
  ]),
  ...bugsIn('lambdas/http/read-body.ts', 'test/lambdas/http/read-body.test.ts', [
    {
      id: 'parsed-body-is-free',
      what: 'Many bodies of many small objects end the process, because only their bytes count.',
      find: 'if (added > 0) await lease.expand(added);',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/core/json-scan.ts', 'test/lambdas/core/json-scan.test.ts', [
    {
      id: 'parts-hidden-behind-a-backslash',
      what: 'A text that ends with an escaped backslash hides the objects after it from the limit.',
      find: '(quote - before) % 2 === 0',
      replace: 'before < quote - 1',
    },
  ]),
  ...bugsIn('lambdas/core/json.ts', 'test/lambdas/core/json.test.ts', [
    {
      id: 'response-of-endless-parts',
      what: 'A response of millions of empty objects ends the process and all requests in it.',
      find: 'json.length <= TEXT_PARTS_MAX || ',
      replace: 'json.length > 0 || ',
    },
  ]),
  ...bugsIn(
    'lambdas/protocols/chat-completions/conversation.ts',
    'test/lambdas/protocols/chat-completions/conversation.test.ts',
    [
      {
        id: 'arguments-of-endless-values',
        what: 'Tool arguments of millions of numbers in one string end the process.',
        find: 'left -= parts + items',
        replace: 'left -= parts',
      },
    ],
  ),
  ...bugsIn('lambdas/providers/read-json.ts', 'test/lambdas/providers/read-json-exact.test.ts', [
    {
      id: 'tool-arguments-parsed-early',
      what: 'Requests keep the values of tool arguments, which no budget counts, while they wait for the provider.',
      find: "Object.defineProperty({}, 'toJSON', { value: () => exactly(text) })",
      replace: 'Object(exactly(text))',
    },
  ]),
  ...bugsIn('lambdas/http/body-budget.ts', 'test/lambdas/http/body-budget.test.ts', [
    {
      id: 'body-share-without-limit',
      what: 'The slow bodies of one account without money fill the body memory, and other customers wait.',
      find: 'others + bytes <= this.#bytesMax / SHARES',
      replace: 'others + bytes <= this.#bytesMax * SHARES',
    },
  ]),
  ...bugsIn('lambdas/core/text/generate-text.ts', 'test/lambdas/core/text/generate-text-gather.test.ts', [
    {
      id: 'images-before-the-balance',
      what: 'An account without money makes the gateway fetch megabytes of images with each small request.',
      find: '      await requireFundsFor(deps, caller, order, checked);\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/core/limits/funded-accounts.ts', 'test/lambdas/core/text/generate-text-gather.test.ts', [
    {
      id: 'balance-known-after-402',
      what: 'An account that spent its money makes the gateway fetch images for ten more minutes.',
      find: '      this.#lastHolds.delete(accountId);\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/providers/gather-images.ts', 'test/lambdas/providers/gather-images.test.ts', [
    {
      id: 'parallel-images-each-with-the-limit',
      what: 'Four images that arrive together take four times the limit of a request.',
      find: '          bytesLeft -= bytes * uses;\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/http/handler.ts', 'test/lambdas/http/answer-memory.test.ts', [
    {
      id: 'response-memory-kept',
      what: 'Each large response keeps its part of the memory, until its account gets only 503.',
      find: '      if (isHandled(event)) event.exchange?.releaseAnswer?.();\n',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/http/memory-pool.ts', 'test/lambdas/http/body-budget.test.ts', [
    {
      id: 'body-budget-without-complete-bodies',
      what: 'Large bodies that wait for a slow provider use memory without limit, until the process ends.',
      find: 'lease === oldest ? this.#completeBytes : ',
      replace: 'lease === oldest ? 0 : ',
    },
  ]),
  ...bugsIn('lambdas/host/request-body.ts', 'test/lambdas/host/request-body.test.ts', [
    {
      id: 'body-without-total-time',
      what: 'A body that arrives just fast enough keeps its memory for hours.',
      find: 'timer = setTimeout(() => reject(timedOut(limitMs)), Math.max(0, limitMs - usedMs));',
      replace: 'if (usedMs > limitMs * 1_000) reject(timedOut(limitMs));',
    },
  ]),
  ...bugsIn('lambdas/core/accounts/admit.ts', pepperTests, [
    {
      id: 'older-pepper-never-tried',
      what: 'After a change of the pepper, accounts with an older API key lose access to their balance.',
      find: "if (reply.kind !== 'unknown') return { reply, hash };",
      replace: 'return { reply, hash };',
    },
  ]),
];
