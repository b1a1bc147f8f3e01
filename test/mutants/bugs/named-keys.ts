import { bugsIn, type MoneyBug } from './money-bug.ts';

const coreTests = 'test/lambdas/core/accounts/account-keys.test.ts';
const ringTests = 'test/contracts/key-ring.contract.test.ts';

const rightBugs = bugsIn('lambdas/core/accounts/key-change.ts', 'test/lambdas/core/accounts/key-change.test.ts', [
  {
    id: 'every-key-manages',
    what: 'An API key without the right `manage` creates and deletes keys.',
    find: 'namedKey(ring, keyId)?.manage === true || isManagingFirst(ring, keyId)',
    replace: 'namedKey(ring, keyId) !== undefined || isManagingFirst(ring, keyId)',
  },
  {
    id: 'first-key-always-manages',
    what: 'The first key keeps the right `manage` that its owner has removed.',
    find: '!first.isRevoked && firstProperties.manage && keyIdOf',
    replace: '!first.isRevoked && keyIdOf',
  },
  {
    id: 'key-changes-itself',
    what: 'An API key gives itself more rights.',
    find: 'if (targetId === keyId) throw',
    replace: "if (targetId === '') throw",
  },
  {
    id: 'rate-above-the-own',
    what: 'A slow API key creates faster ones.',
    find: 'actorRate !== undefined && rate > actorRate',
    replace: 'actorRate !== undefined && rate < 0',
  },
  {
    id: 'no-rate-is-faster',
    what: 'A slow API key creates keys with the rate of every key.',
    find: 'if (rate === null) return actorRate;',
    replace: 'if (rate === null) return undefined;',
  },
  {
    id: 'manager-with-a-cap',
    what: 'An API key with a cap gets the right `manage`, and creates keys without a cap.',
    find: '[hasCap && ',
    replace: '[hasCap && hasCap === undefined && ',
  },
  {
    id: 'new-limit-forgets-the-period',
    what: 'A new limit of a cap per day becomes a cap in total, which starts again with its whole limit.',
    find: 'limitPeriod ?? present?.kind ?? ',
    replace: 'limitPeriod ?? ',
  },
]);

const creationBugs = bugsIn('lambdas/core/accounts/account-keys.ts', coreTests, [
  {
    id: 'undefined-rate-is-faster',
    what: 'A slow API key creates keys with the rate of every key, if the request has no rate.',
    find: '{ ...wanted, rate: wanted.rate ?? null }',
    replace: '{ rate: null, ...wanted }',
  },
  {
    id: 'lost-limit-reported-as-written',
    what: 'The lost one of two concurrent changes of a limit is reported as written.',
    find: '(!account || (await hasLimit(',
    replace: '(account !== null || (await hasLimit(',
  },
]);

const enforcementBugs = bugsIn('lambdas/core/accounts/admit.ts', coreTests, [
  {
    id: 'expired-key-still-good',
    what: 'An expired API key is accepted.',
    find: 'key.expiresAtMs <= nowMs',
    replace: 'key.expiresAtMs < 0',
  },
  {
    id: 'slow-key-retries-early',
    what: 'The 429 of a slow API key says that the next request is allowed in one second.',
    find: ", limit: 'key', retryAfterSeconds }",
    replace: ", limit: 'key' }",
  },
]);

const modelBugs = bugsIn(
  'lambdas/core/text/text-candidates.ts',
  'test/lambdas/core/text/generate-text-fallback.test.ts',
  [
    {
      id: 'fallback-outside-the-list',
      what: 'An API key with a list of models calls another model as a fallback.',
      find: 'refuseOtherModels(model, allowed, fallbacks?.header);',
      replace: 'if (allowed?.length === 0) refuseOtherModels(model, allowed);',
    },
  ],
);

const storeBugs = bugsIn('lambdas/stores/dynamodb/key-ring.ts', ringTests, [
  {
    id: 'deleted-key-still-good',
    what: 'A deleted API key stays valid and is in no list.',
    find: "if (key.kind === 'revoke') return [revoke(tables, key.hash)];",
    replace: "if (key.kind === 'revoke') return [];",
  },
  {
    id: 'ring-of-another-time',
    what: 'Two concurrent changes of the API keys overwrite each other, so that a key is in no list.',
    find: "? { condition: 'attribute_not_exists(pk)', values: {} }\n    : { condition: 'version = :before', values: { ':before': version } };",
    replace:
      "? { condition: 'attribute_not_exists(pk) OR attribute_exists(pk)', values: {} }\n    : { condition: 'version = :before', values: { ':before': version } };",
  },
  {
    id: 'change-by-a-replaced-first-key',
    what: 'A first key that was replaced or revoked still changes the API keys.',
    find: 'check: { ...item, condition, names: current.names, values }',
    replace: "check: { ...item, condition: 'attribute_exists(pk)' }",
  },
  {
    id: 'blocked-account-gets-a-capped-key',
    what: 'A blocked account gets an API key with a cap, which no block has reached.',
    find: "change.account?.before.status === 'blocked'",
    replace: 'change.account?.before.version === -1',
  },
  {
    id: 'deleted-key-keeps-its-cap',
    what: 'The cap of a deleted API key stays in the account item.',
    find: "if (key?.kind === 'revoke' && key.hasCap)",
    replace: "if (key?.kind === 'revoke' && key.hash === '')",
  },
]);

const limitBugs = bugsIn('lambdas/stores/dynamodb/key-item.ts', ringTests, [
  {
    id: 'limits-revive-a-key',
    what: 'A change of its restrictions makes a revoked API key valid again.',
    find: 'condition: ifUsable.condition,\n      names: { ...ifUsable.names, ...Object',
    replace:
      "condition: 'attribute_exists(pk) OR #status IN (:active, :restricted)',\n      names: { ...ifUsable.names, ...Object",
  },
]);

const sqliteBugs = bugsIn('local/stores/sqlite/key-rows.ts', ringTests, [
  {
    id: 'sqlite-restricted-key-survives',
    what: 'In SQLite, a revoked API key with restrictions stays valid.',
    find: "SET status = 'revoked', limits = NULL WHERE",
    replace: "SET status = 'revoked' WHERE",
  },
]);

const appTests = 'test/lambdas/protocols/app/account-keys.test.ts';

const appBugs = [
  ...bugsIn('lambdas/routes.ts', appTests, [
    {
      id: 'app-keys-by-old-init-data',
      what: 'Init data that leaked an hour ago creates API keys of the account.',
      find: 'const changesAppKeys = { ...ofApp, writes: true, fresh: true } as const;',
      replace: 'const changesAppKeys = { ...ofApp, writes: true } as const;',
    },
  ]),
  ...bugsIn('lambdas/protocols/keys/handlers.ts', appTests, [
    {
      id: 'edit-of-another-version',
      what: 'A screen with an old key raises the cap that another screen has lowered.',
      find: 'version: readVersion(exchange.event.headers) };\n    const wanted',
      replace: 'version: readVersion({}) };\n    const wanted',
    },
    {
      id: 'revoke-of-another-version',
      what: 'A screen with an old key revokes a key that another screen has changed.',
      find: 'version: readVersion(exchange.event.headers) };\n    await orUnavailable(deleteAccountKey',
      replace: 'version: readVersion({}) };\n    await orUnavailable(deleteAccountKey',
    },
  ]),
  ...bugsIn('lambdas/core/ledger/usage-summary.ts', 'test/lambdas/core/ledger/usage-summary.test.ts', [
    {
      id: 'part-of-the-charges-shown',
      what: 'A list of API keys shows the charges that were read so far as all charges.',
      find: 'return isComplete ? picos : undefined;',
      replace: 'return isComplete ? picos : new Map(picos);',
    },
  ]),
  ...bugsIn('bin/commands/named-keys.ts', 'test/bin/commands/named-keys.test.ts', [
    {
      id: 'dry-run-changes-keys',
      what: 'A dry run of the command line creates, changes and revokes API keys.',
      find: 'writing.options.dryRun ? planning(deps) : confirming(',
      replace: "writing.accountId === '' ? planning(deps) : confirming(",
    },
  ]),
];

/** Mistakes in the rights, the restrictions and the revocation of API keys (KEY-8). */
export const namedKeyBugs: readonly MoneyBug[] = [
  ...rightBugs,
  ...creationBugs,
  ...enforcementBugs,
  ...modelBugs,
  ...storeBugs,
  ...limitBugs,
  ...sqliteBugs,
  ...appBugs,
];
