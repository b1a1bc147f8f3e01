import { bugsIn, type MoneyBug } from './money-bug.ts';

const contracts = 'test/contracts/account-keys.contract.test.ts';
const holdTests = 'test/lambdas/core/text/text-hold.test.ts';

const factorBugs = bugsIn(
  'lambdas/core/pricing/estimate-factor.ts',
  'test/lambdas/core/pricing/estimate-factor.test.ts',
  [
    {
      id: 'factor-forever',
      what: 'One overage raises the holds of an account forever.',
      find: '2 ** (-ageMs / HALF_LIFE_MS)',
      replace: '2 ** (ageMs - ageMs)',
    },
    {
      id: 'factor-rounded-down',
      what: 'A factor is rounded down, so the same prompt exceeds its hold again.',
      find: 'Math.ceil((countedTokens * 10)',
      replace: 'Math.floor((countedTokens * 10)',
    },
  ],
);

const holdBugs = bugsIn('lambdas/core/text/text-hold.ts', holdTests, [
  {
    id: 'factor-not-in-the-hold',
    what: 'The hold of an account with overages has the estimate that was too low.',
    find: 'Math.ceil(promptTokens * factor)',
    replace: 'Math.ceil(promptTokens * Math.min(factor, 1))',
  },
  {
    id: 'factor-above-the-budget',
    what: 'The estimate factor turns a request below 100 USD into a rejected one.',
    find: 'const isRaised = !isAboveBudget(price(raisedTokens, cap));',
    replace: 'const isRaised = isAboveBudget === isAboveBudget;',
  },
  {
    id: 'factor-left-out-of-the-smaller-hold',
    what: 'A hold that was made smaller for the balance leaves out the estimate factor.',
    find: 'return price(raisedTokens, affordable);',
    replace: 'return price(promptTokens, affordable);',
  },
]);

const settleBugs = bugsIn('lambdas/core/paid-call/settle.ts', holdTests, [
  {
    id: 'factor-without-an-overage',
    what: 'A charge within its hold raises the estimates of the account.',
    find: 'record.overage && usage ? onOverage',
    replace: 'usage ? onOverage',
  },
]);

const pumpBugs = bugsIn('lambdas/core/paid-call/with-paid-call.ts', holdTests, [
  {
    id: 'factor-not-raised-by-streams',
    what: 'A stream above its hold does not raise the estimates of its account.',
    find: 'learnFromOverage(paid, committed, usage),',
    replace: '',
  },
]);

const raiseBugs = bugsIn('lambdas/core/accounts/raise-factor.ts', 'test/lambdas/core/accounts/raise-factor.test.ts', [
  {
    id: 'factor-on-the-replaced-key',
    what: 'A rotation during a request keeps the estimate factor of that request from the new API key.',
    find: '[...(first ? [first] : []), ...named]',
    replace: '[...(first && named ? [] : []), ...named]',
  },
]);

const dynamodbBugs = bugsIn('lambdas/stores/dynamodb/key-store.ts', contracts, [
  {
    id: 'factor-lowered',
    what: 'A lower estimate factor replaces a higher one.',
    find: '(attribute_not_exists(estimateFactor) OR estimateFactor < :factor)',
    replace: '(attribute_not_exists(estimateFactor) OR estimateFactor < :factor OR estimateFactor > :factor)',
  },
  {
    id: 'higher-factor-lost-to-a-concurrent-one',
    what: 'If two concurrent raises meet a decayed estimate factor, the lower one can stay.',
    find: ') OR (estimateFactor = :seen',
    replace: ') AND attribute_not_exists(pk) OR (estimateFactor = :seen',
  },
  {
    id: 'factor-lost-by-rotation',
    what: 'A new API key starts without the estimate factor of the old one.',
    find: '{ ...toKeyItem(accountId, key), ...toFactorAttributes(factor) }',
    replace: '{ ...toKeyItem(accountId, key), ...toFactorAttributes(factor && undefined) }',
  },
]);

const sqliteBugs = bugsIn('local/stores/sqlite/key-store.ts', contracts, [
  {
    id: 'sqlite-factor-lowered',
    what: 'A lower estimate factor replaces a higher one in SQLite.',
    find: 'if (!key || factorAt(key.factor, raised.atMs) >= raised.factor) return key;',
    replace: 'if (!key) return key;',
  },
  {
    id: 'sqlite-factor-lost-by-rotation',
    what: 'A new API key in SQLite starts without the estimate factor of the old one.',
    find: 'if (factor) setFactor(db, key.hash, factor);',
    replace: '',
  },
]);

export const estimateFactorBugs: readonly MoneyBug[] = [
  ...factorBugs,
  ...holdBugs,
  ...settleBugs,
  ...pumpBugs,
  ...raiseBugs,
  ...dynamodbBugs,
  ...sqliteBugs,
];
