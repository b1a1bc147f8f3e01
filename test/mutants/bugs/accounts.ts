import { bugsIn, type MoneyBug } from './money-bug.ts';

const storeTests = 'test/contracts/account-store.contract.test.ts';
const keyTests = 'test/contracts/account-keys.contract.test.ts';
const logTests = 'test/contracts/update-log.contract.test.ts';
const rotationTests = 'test/lambdas/core/accounts/issue-key-rotate-key.test.ts';
const startTests = 'test/lambdas/core/accounts/chats-start-chat.test.ts';
const initDataTests = 'test/lambdas/core/accounts/init-data.test.ts';
const balanceTests = 'test/lambdas/core/accounts/low-balance.test.ts';
const signatureTests = 'test/lambdas/core/signature.test.ts';
const proofTests = 'test/lambdas/http/authenticate-proof.test.ts';

const openingBugs = bugsIn('lambdas/stores/dynamodb/account-store.ts', storeTests, [
  {
    id: 'start-credit-twice',
    what: 'A new account starts with twice the balance of its credit record.',
    find: 'available: creditPicos,',
    replace: 'available: creditPicos * 2n,',
  },
  {
    id: 'start-credit-without-a-record',
    what: 'A new account starts with a balance that has no credit record.',
    find: 'putNew(accounts, toCreditItem(credit, month)), ',
    replace: '',
  },
  {
    id: 'start-credit-with-every-start',
    what: 'A user who starts the bot twice concurrently gets two accounts and two credits.',
    find: '[putNew(accounts, newChatItem(chatId, accountId))]',
    replace: '[{ put: { table: accounts, item: newChatItem(chatId, accountId) } }]',
  },
]);

const keyItemBugs = bugsIn('lambdas/stores/dynamodb/key-item.ts', keyTests, [
  {
    id: 'new-key-for-the-blocked',
    what: 'A blocked account gets a valid API key.',
    find: "condition: '#status = :active',\n    names",
    replace: "condition: '#status = :active OR attribute_exists(pk)',\n    names",
  },
]);

const keyChangeBugs = bugsIn('lambdas/stores/dynamodb/key-store.ts', keyTests, [
  {
    id: 'replaced-key-still-good',
    what: 'A replaced API key stays valid forever.',
    find: 'revoke(tables, oldHash, ifFactor(factor)),',
    replace: '',
  },
  {
    id: 'two-rotations-win',
    what: 'Two concurrent rotations both return an API key.',
    find: '...ifCurrent(oldHash),',
    replace: '',
  },
  {
    id: 'revoked-in-name-only',
    what: 'An API key that an operator revoked stays valid.',
    find: "revoke(tables, hash),\n  ]);\n  return cancelled ? 'changed'",
    replace: "]);\n  return cancelled ? 'changed'",
  },
]);

const blockBugs = bugsIn('lambdas/stores/dynamodb/account-store.ts', keyTests, [
  {
    id: 'blocked-by-its-account-alone',
    what: 'The API key of a blocked account is valid on routes without a hold.',
    find: "':blocked': isBlocked",
    replace: "':blocked': false",
  },
  {
    id: 'block-of-the-key-before',
    what: 'A block during a rotation revokes the old API key and leaves the new one valid.',
    find: "{ condition: 'attribute_not_exists(pk)' } : ifCurrent(hash)),",
    replace: "{ condition: 'attribute_not_exists(pk)' } : { condition: 'attribute_exists(pk)' }),",
  },
]);

const rotationBugs = bugsIn('lambdas/core/accounts/issue-key.ts', rotationTests, [
  {
    id: 'rotation-of-any-key',
    what: 'A rotation from a page with an old API key replaces the newest one.',
    find: 'keyIdOf(current.hash) !== keyId',
    replace: "keyId === 'nothing'",
  },
  {
    id: 'rotated-key-lost-with-its-reply',
    what: 'A rotation whose reply is lost revokes the old API key, and no client receives the new one.',
    find: '!(await isCurrent(deps, accountId, key.hash))',
    replace: 'isCurrent !== undefined',
  },
  {
    id: 'key-returned-that-was-never-stored',
    what: 'The second of two concurrent rotations returns an API key that no store has.',
    find: "reply === 'changed' && !(await isCurrent(deps, accountId, key.hash))",
    replace: "reply === 'changed' && isCurrent === undefined",
  },
  {
    id: 'rotation-answered-before-it-is-written',
    what: 'The old API key stays valid for a while after the response with the new one.',
    find: 'const reply = await retryUntilDefinite(deps, () => keys.replaceKey(replacement));',
    replace:
      "const writing = retryUntilDefinite(deps, () => keys.replaceKey(replacement));\n  const reply = await Promise.race([writing, Promise.resolve<'replaced' | 'changed' | 'blocked'>('replaced')]);",
    caughtBy: keyTests,
  },
]);

const startBugs = bugsIn('lambdas/core/accounts/chats.ts', startTests, [
  {
    id: 'every-start-replaces-the-key',
    what: 'A second start of the bot revokes the API key that its owner uses.',
    find: 'if (current.isShown) return',
    replace: "if (current.hash === '') return",
  },
  {
    id: 'start-replaces-a-used-key',
    what: 'A start of the bot revokes an API key that its owner uses, because its display was not recorded.',
    find: 'record.tatMicros > 0',
    replace: 'record.tatMicros < 0',
  },
  {
    id: 'start-undoes-a-revocation',
    what: 'A user whose API key was revoked gets a new one with a start of the bot.',
    find: 'if (!current || current.isRevoked) return',
    replace: 'if (!current) return',
  },
  {
    id: 'start-shows-a-revoked-key',
    what: 'A start of the bot shows the API key that it created, although another one has replaced it.',
    find: 'if (current?.hash === key.hash) return',
    replace: 'if (current) return',
  },
]);

const initDataBugs = bugsIn('lambdas/core/accounts/init-data.ts', initDataTests, [
  {
    id: 'any-user-by-any-hash',
    what: 'A mini app request is trusted without its signature, and returns the API key of any named user.',
    find: 'isEqual(given, expected)',
    replace: 'isEqual(expected, expected)',
  },
  {
    id: 'mini-app-for-ever',
    what: 'The init data of the mini app stays valid forever.',
    find: '&& ageMs <= INIT_DATA_READING_MS',
    replace: '&& INIT_DATA_READING_MS > 0',
  },
  {
    id: 'mini-app-of-tomorrow',
    what: 'Init data with a future date is valid, and for more than an hour.',
    find: 'ageMs >= -AHEAD_MS',
    replace: 'AHEAD_MS > 0',
  },
  {
    id: 'two-fields-of-one-name',
    what: 'Init data with two users: the gateway checks one and admits the other.',
    find: 'fields.size === pairs.length && isPlain',
    replace: 'isPlain',
  },
  {
    id: 'two-fields-in-one-value',
    what: 'A field of the init data can be hidden within another field.',
    find: "!/[\\n=]/.test(name) && !value.includes('\\n')",
    replace: "name !== '' && value !== '\\n'",
  },
]);

const signatureBugs = bugsIn('lambdas/core/signature.ts', signatureTests, [
  {
    id: 'payment-reported-for-ever',
    what: 'A signed payment report that an attacker records stays valid forever.',
    find: 'Math.abs(nowMs - Number(t) * 1_000) <= SIGNATURE_AGE_MS',
    replace: 'nowMs > SIGNATURE_AGE_MS',
  },
  {
    id: 'payment-of-tomorrow',
    what: 'A payment report with a future date is valid.',
    find: 'Math.abs(nowMs - Number(t) * 1_000)',
    replace: '(nowMs - Number(t) * 1_000)',
  },
  {
    id: 'payment-with-any-signature',
    what: 'Any text in the form of a signature credits any account.',
    find: 'given.length === expected.length && timingSafeEqual(given, expected)',
    replace: 'given.length === expected.length && timingSafeEqual(given, given)',
  },
]);

const proofBugs = bugsIn('lambdas/http/authenticate.ts', proofTests, [
  {
    id: 'no-token-lets-everybody-in',
    what: 'On a gateway without a bot, any client can send bot updates.',
    find: 'botToken === undefined || !isEqual(secret, updateSecretOf(botToken))',
    replace: 'botToken !== undefined && !isEqual(secret, updateSecretOf(botToken))',
  },
  {
    id: 'payment-with-another-body',
    what: 'An attacker with a recorded signature can credit any amount.',
    find: 'if (!isSigned(topUpKey, signature, bytes)) throw wrong();',
    replace: 'if (!isSigned(topUpKey, signature, bytes) && signature === topUpKey) throw wrong();',
  },
]);

const noticeBugs = [
  ...bugsIn('lambdas/core/accounts/low-balance.ts', balanceTests, [
    {
      id: 'notice-not-at-the-threshold-itself',
      what: 'An account whose balance falls exactly to its threshold gets no notification.',
      find: 'afterPicos <= thresholdPicos',
      replace: 'afterPicos < thresholdPicos',
    },
    {
      id: 'notice-with-every-request',
      what: 'Every request below the threshold sends a notification.',
      find: 'beforePicos > thresholdPicos && ',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/account-store.ts', storeTests, [
    {
      id: 'notice-forgotten-by-a-late-one',
      what: 'A late notification causes the next one to be sent twice.',
      find: "condition: 'noticed < :version'",
      replace: "condition: 'noticed <> :version'",
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/update-log.ts', logTests, [
    {
      id: 'update-dealt-with-again',
      what: 'An update that is delivered again after its lease is handled twice.',
      find: ' REMOVE leaseUntil',
      replace: '',
    },
    {
      id: 'update-undone',
      what: 'A late release of an update causes it to be handled twice.',
      find: 'attribute_not_exists(done)',
      replace: 'attribute_exists(pk)',
    },
  ]),
];

export const accountBugs: readonly MoneyBug[] = [
  ...openingBugs,
  ...keyItemBugs,
  ...keyChangeBugs,
  ...blockBugs,
  ...rotationBugs,
  ...startBugs,
  ...initDataBugs,
  ...signatureBugs,
  ...proofBugs,
  ...noticeBugs,
];
