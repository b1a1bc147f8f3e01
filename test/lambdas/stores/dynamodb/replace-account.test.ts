import { expect, test } from 'vitest';
import { changeCap } from '../../../../lambdas/core/ledger/caps.ts';
import { changeCredit } from '../../../../lambdas/core/ledger/change-credit.ts';
import { closeHold } from '../../../../lambdas/core/ledger/close-hold.ts';
import type { Account } from '../../../../lambdas/core/ledger/ledger.ts';
import { renderRequestId } from '../../../../lambdas/core/request-id.ts';
import { packedKeyOf } from '../../../../lambdas/stores/dynamodb/hold-entries.ts';
import { toClosing, toClosingWrites, toReplacement } from '../../../../lambdas/stores/dynamodb/replace-account.ts';

const DECEMBER = Date.UTC(2026, 11, 1);
const holdId = `${renderRequestId({ atMs: DECEMBER - 1, random: 7 })}.0`;
const before: Account = {
  id: 'one',
  status: 'active',
  availablePicos: 60n,
  creditedPicos: 100n,
  returnedPicos: 0n,
  spentPicos: 0n,
  month: '2026-11',
  holds: new Map([[holdId, { amountPicos: 40n, expiresAtMs: DECEMBER }]]),
  version: 3,
  caps: new Map(),
};

test('BILL-22 a replacement writes all sums and requires the version that was read', () => {
  const after = changeCredit(before, { type: 'debit', amountPicos: 7n }, DECEMBER);
  expect(toReplacement('accounts', { before, after, nowMs: DECEMBER })).toEqual({
    table: 'accounts',
    key: { pk: 'account#one', sk: 'ACCOUNT' },
    update:
      'SET available = :available, credited = :credited, returned = :returned, spent = :spent, version = :after, #month = :month',
    condition: 'version = :before',
    names: { '#month': 'month' },
    values: {
      ':available': 53n,
      ':credited': 93n,
      ':returned': 7n,
      ':spent': 0n,
      ':month': '2026-12',
      ':before': 3,
      ':after': 4,
    },
  });
});

test('BILL-13 a replacement removes both forms of a hold that it closes', () => {
  const { update, names } = toReplacement('accounts', { before, after: { ...before, holds: new Map() }, nowMs: 0 });
  expect(update).toMatch(/ REMOVE holds\.#id0, holds\.#id0Packed$/);
  expect(names).toEqual({ '#month': 'month', '#id0': holdId, '#id0Packed': packedKeyOf(holdId) });
});

test('KEY-9 a replacement removes the entries of a hold with a cap, and writes that cap', () => {
  const capped = changeCap(before, 'k', { limitPicos: 70n, kind: 'total' }, DECEMBER);
  const holds = new Map([[holdId, { ...before.holds.get(holdId)!, cap: { keyId: 'k', period: '4:total' } }]]);
  const closed = closeHold({ ...capped, holds }, { holdId, amountPicos: 25n }, 40n, 0);
  const replacement = { before: { ...capped, holds }, after: closed!, nowMs: 0 };
  const { update, names, values } = toReplacement('accounts', replacement);
  expect(update).toMatch(/, caps\.#cap0 = :cap0 REMOVE holds\.#id0, holds\.#id0Packed$/);
  expect(names).toMatchObject({ '#id0': `${holdId}#cap`, '#id0Packed': packedKeyOf(holdId), '#cap0': 'k' });
  expect(values?.[':cap0']).toEqual({ limit: 70n, left: 85n, period: '4:total' });
});

test('BILL-22 a closing is written once, and read as it was written', () => {
  expect(toClosingWrites('accounts', { before, after: before, nowMs: DECEMBER - 1 })).toEqual([]);
  const writes = toClosingWrites('accounts', { before, after: before, nowMs: DECEMBER });
  const sums = { credited: 100n, returned: 0n, spent: 0n, held: 40n };
  expect(writes).toEqual([
    {
      put: {
        table: 'accounts',
        item: { pk: 'account#one', sk: 'STATEMENT#2026-11', month: '2026-11', ...sums },
        condition: 'attribute_not_exists(pk)',
      },
    },
  ]);
  const read = { month: '2026-11', creditedPicos: 100n, returnedPicos: 0n, spentPicos: 0n, heldPicos: 40n };
  expect(toClosing({ month: '2026-11', ...sums })).toEqual(read);
  expect(toClosing({ month: '2026-11', ...sums, start: 5n })).toEqual({ ...read, startMs: 5 });
});
