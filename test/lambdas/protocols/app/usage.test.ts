import { expect, test } from 'vitest';
import { createAppService, ended, firstKey } from '../../functions/wiring/app-service.ts';

test("KEY-4 the mini app's list is that of the API key, page by page", async () => {
  const { get, withKey, ledger, clock } = await createAppService();
  for (let turn = 0; turn < 5; turn += 1) {
    const failed = { outcome: 'released', amountPicos: 0n, reason: 'upstream_error' } as const;
    await ledger.putRecord(ended(clock.now() - turn * 60_000, turn === 2 ? failed : {}));
  }
  await ledger.putRecord({ ...ended(clock.now()), accountId: 'another' });
  let cursor = '';
  let seen = 0;
  do {
    const query = `?limit=2${cursor && `&cursor=${cursor}`}`;
    const [own, keyed] = [await get(`/app/api/usage${query}`), await withKey(`/api/usage${query}`, firstKey)];
    expect([own.status, own.body]).toEqual([200, keyed.body]);
    seen += own.body.data.length;
    cursor = own.body.next_cursor ?? '';
  } while (cursor);
  expect(seen).toBe(5);
});

test('KEY-4 a wrong parameter of the list is refused by name', async () => {
  const { get } = await createAppService();
  const { status, body } = await get('/app/api/usage?limit=0');
  expect([status, body.error.param]).toEqual([400, 'limit']);
});
