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
    what: 'An account begins with twice the money that its credit says.',
    find: 'available: creditPicos,',
    replace: 'available: creditPicos * 2n,',
  },
  {
    id: 'start-credit-without-a-record',
    what: 'An account begins with money that nothing was written down about.',
    find: '...(creditPicos === 0n ? [] : [putNew(accounts, toCreditItem(credit))]),',
    replace: '...(toCreditItem(credit) && []),',
  },
  {
    id: 'start-credit-with-every-start',
    what: 'Whoever starts twice at once has two accounts and two credits.',
    find: '[putNew(accounts, newChatItem(chatId, accountId))]',
    replace: '[{ put: { table: accounts, item: newChatItem(chatId, accountId) } }]',
  },
]);

const keyChangeBugs = bugsIn('lambdas/stores/dynamodb/key-store.ts', keyTests, [
  {
    id: 'replaced-key-still-good',
    what: 'A key that was replaced is let in for ever.',
    find: 'putNew(tables.keys, toKeyItem(accountId, key)),\n    revoke(tables, oldHash),',
    replace: 'putNew(tables.keys, toKeyItem(accountId, key)),',
  },
  {
    id: 'new-key-for-the-blocked',
    what: 'Whoever is blocked gets a key that is not.',
    find: "condition: '#status = :active',\n    names",
    replace: "condition: '#status = :active OR attribute_exists(pk)',\n    names",
  },
  {
    id: 'two-rotations-win',
    what: 'Of two rotations at once both are told a key.',
    find: '...ifCurrent(oldHash),',
    replace: '',
  },
  {
    id: 'revoked-in-name-only',
    what: 'A key that an operator has revoked is still let in.',
    find: "revoke(tables, hash),\n  ]);\n  return cancelled ? 'changed'",
    replace: "]);\n  return cancelled ? 'changed'",
  },
]);

const blockBugs = bugsIn('lambdas/stores/dynamodb/account-store.ts', keyTests, [
  {
    id: 'blocked-by-its-account-alone',
    what: 'The key of a blocked account is let in wherever nothing is reserved.',
    find: "':blocked': isBlocked",
    replace: "':blocked': false",
  },
  {
    id: 'block-of-the-key-before',
    what: 'A block that meets a rotation blocks the key that has gone, and lets the new one in.',
    find: '{ check: { table: accounts, key, ...ifCurrent(hash) } },',
    replace: '',
  },
]);

const rotationBugs = bugsIn('lambdas/core/accounts/issue-key.ts', rotationTests, [
  {
    id: 'rotation-of-any-key',
    what: 'A rotation from a page that shows an old key replaces the newest one.',
    find: 'keyIdOf(current.hash) !== keyId',
    replace: "keyId === 'nothing'",
  },
  {
    id: 'rotated-key-lost-with-its-reply',
    what: 'When the reply to a rotation is lost the old key is revoked and the new one told to nobody.',
    find: '!(await isCurrent(deps, accountId, key.hash))',
    replace: 'isCurrent !== undefined',
  },
  {
    id: 'key-told-that-was-never-stored',
    what: 'Of two rotations at once the second is told a key that nothing knows.',
    find: "reply === 'changed' && !(await isCurrent(deps, accountId, key.hash))",
    replace: "reply === 'changed' && isCurrent === undefined",
  },
  {
    id: 'rotation-answered-before-it-is-written',
    what: 'The old key is let in for a while after the new one has been told.',
    find: 'const reply = await retryUntilDefinite(deps, () => keys.replaceKey(replacement));',
    replace:
      "const writing = retryUntilDefinite(deps, () => keys.replaceKey(replacement));\n  const reply = await Promise.race([writing, Promise.resolve<'replaced' | 'changed' | 'blocked'>('replaced')]);",
    caughtBy: keyTests,
  },
]);

const startBugs = bugsIn('lambdas/core/accounts/chats.ts', startTests, [
  {
    id: 'every-start-replaces-the-key',
    what: 'A second start revokes the key that its owner works with.',
    find: 'if (current.isShown) return',
    replace: "if (current.hash === '') return",
  },
  {
    id: 'start-undoes-a-revocation',
    what: 'Whoever had a key revoked gets the next one with a start.',
    find: 'if (!current || current.isRevoked) return',
    replace: 'if (!current) return',
  },
  {
    id: 'start-tells-a-dead-key',
    what: 'A start tells the key that it made although another one has taken its place.',
    find: 'if (current?.hash === key.hash) return',
    replace: 'if (current) return',
  },
]);

const initDataBugs = bugsIn('lambdas/core/accounts/init-data.ts', initDataTests, [
  {
    id: 'any-user-by-any-hash',
    what: 'Whoever names a user in the mini app is that user, and gets the key.',
    find: 'isEqual(given, expected)',
    replace: 'isEqual(expected, expected)',
  },
  {
    id: 'mini-app-for-ever',
    what: 'What the mini app was opened with once is good for ever.',
    find: '&& ageMs <= INIT_DATA_READING_MS',
    replace: '&& INIT_DATA_READING_MS > 0',
  },
  {
    id: 'mini-app-of-tomorrow',
    what: 'What is dated ahead is good, and longer than an hour.',
    find: 'ageMs >= -AHEAD_MS',
    replace: 'AHEAD_MS > 0',
  },
  {
    id: 'two-fields-of-one-name',
    what: 'One of two users of the mini app is checked, and the other let in.',
    find: 'fields.size === pairs.length && isPlain',
    replace: 'isPlain',
  },
  {
    id: 'two-fields-in-one-value',
    what: 'A field of the mini app can be hidden in another one.',
    find: "!/[\\n=]/.test(name) && !value.includes('\\n')",
    replace: "name !== '' && value !== '\\n'",
  },
]);

const signatureBugs = bugsIn('lambdas/core/signature.ts', signatureTests, [
  {
    id: 'payment-reported-for-ever',
    what: 'A report of a payment that somebody has caught is good for ever.',
    find: 'Math.abs(nowMs - Number(t) * 1_000) <= SIGNATURE_AGE_MS',
    replace: 'nowMs > SIGNATURE_AGE_MS',
  },
  {
    id: 'payment-of-tomorrow',
    what: 'A report of a payment may be dated ahead.',
    find: 'Math.abs(nowMs - Number(t) * 1_000)',
    replace: '(nowMs - Number(t) * 1_000)',
  },
  {
    id: 'payment-signed-by-anybody',
    what: 'Whoever writes something like a signature credits any account.',
    find: 'given.length === expected.length && timingSafeEqual(given, expected)',
    replace: 'given.length === expected.length && timingSafeEqual(given, given)',
  },
]);

const proofBugs = bugsIn('lambdas/http/authenticate.ts', proofTests, [
  {
    id: 'no-token-lets-everybody-in',
    what: 'Without a bot anybody can send its updates.',
    find: 'botToken === undefined || !isEqual(secret, updateSecretOf(botToken))',
    replace: 'botToken !== undefined && !isEqual(secret, updateSecretOf(botToken))',
  },
  {
    id: 'payment-with-another-body',
    what: 'A signature that somebody has caught credits what its finder likes.',
    find: 'if (!isSigned(topUpKey, signature, bytes)) throw wrong();',
    replace: 'if (!isSigned(topUpKey, signature, bytes) && signature === topUpKey) throw wrong();',
  },
]);

const noticeBugs = [
  ...bugsIn('lambdas/core/accounts/low-balance.ts', balanceTests, [
    {
      id: 'notice-not-at-the-threshold-itself',
      what: 'An account that falls to its threshold and no further is not told.',
      find: 'afterPicos <= thresholdPicos',
      replace: 'afterPicos < thresholdPicos',
    },
    {
      id: 'notice-with-every-request',
      what: 'Below the threshold every request is followed by a notice.',
      find: 'beforePicos > thresholdPicos && ',
      replace: '',
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/account-store.ts', storeTests, [
    {
      id: 'notice-forgotten-by-a-late-one',
      what: 'A notice that comes late makes the next one come again.',
      find: "condition: 'noticed < :version'",
      replace: "condition: 'noticed <> :version'",
    },
  ]),
  ...bugsIn('lambdas/stores/dynamodb/update-log.ts', logTests, [
    {
      id: 'update-dealt-with-again',
      what: 'A delivery that comes again after its lease is dealt with again.',
      find: ' REMOVE leaseUntil',
      replace: '',
    },
    {
      id: 'update-undone',
      what: 'Whoever gives an update back too late has it dealt with again.',
      find: 'attribute_not_exists(done)',
      replace: 'attribute_exists(pk)',
    },
  ]),
];

export const accountBugs: readonly MoneyBug[] = [
  ...openingBugs,
  ...keyChangeBugs,
  ...blockBugs,
  ...rotationBugs,
  ...startBugs,
  ...initDataBugs,
  ...signatureBugs,
  ...proofBugs,
  ...noticeBugs,
];
