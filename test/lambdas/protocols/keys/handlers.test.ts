import { expect, test } from 'vitest';
import {
  createCreateKey,
  createDeleteKey,
  createEditKey,
  createGetKey,
  createListKeys,
} from '../../../../lambdas/protocols/keys/handlers.ts';
import { fails, withKeyFaults } from '../../../support/memory/faults.ts';
import { keyWorld } from '../../core/accounts/key-world.ts';
import { createChain } from '../../http/chain.ts';
import { functionUrlEvent, invoke } from '../../http/function-url.ts';

/** Sends a request to the routes of the keys. The chain admits it as the first key of the account. */
const createScene = async (faults: Parameters<typeof withKeyFaults>[1] = {}) => {
  const world = await keyWorld();
  const deps = { ...world.deps, keys: withKeyFaults(world.keys, faults) };
  const handlers = {
    'GET /api/keys': createListKeys(deps),
    'POST /api/keys': createCreateKey(deps),
    'GET /api/keys/{id}': createGetKey(deps),
    'PATCH /api/keys/{id}': createEditKey(deps),
    'DELETE /api/keys/{id}': createDeleteKey(deps),
  } as const;
  const { key: first } = await world.admit(world.firstKey);
  const send = async (name: keyof typeof handlers, id = '', body?: object) => {
    const { handler, apiKey } = await createChain({
      clock: world.clock,
      handle: (exchange) => {
        const { admission } = exchange;
        if (admission) exchange.admission = { ...admission, accountId: first.accountId, key: first };
        return handlers[name](exchange);
      },
    });
    const [method = '', path = ''] = name.split(' ');
    const event = functionUrlEvent({
      ...{ method, path: path.replace('{id}', id), headers: { authorization: `Bearer ${apiKey}` } },
      ...(body && { body: JSON.stringify(body) }),
    });
    const answer = await world.clock.until(invoke(handler, event));
    return { ...answer, body: JSON.parse(answer.text) };
  };
  return { world, send };
};

test('KEY-8 a created key is returned although nothing can be read after its write', async () => {
  const { world, send } = await createScene({ readMany: [undefined, fails], ring: [undefined, fails] });
  const { status, headers, body } = await send('POST /api/keys', '', { name: 'A' });
  expect([status, headers['cache-control'], headers.etag]).toEqual([200, 'no-store', '"1"']);
  expect(await world.admit(body.key)).toMatchObject({ key: { keyId: body.id } });
});

test('KEY-8 every other response has no secret part, and no cache keeps it', async () => {
  const { send } = await createScene();
  const { body: made } = await send('POST /api/keys', '', { name: 'A' });
  const answers = [
    await send('GET /api/keys'),
    await send('GET /api/keys/{id}', made.id),
    await send('PATCH /api/keys/{id}', made.id, { name: 'B' }),
    await send('DELETE /api/keys/{id}', made.id),
  ];
  for (const { status, headers, text } of answers) {
    expect([status, headers['cache-control']]).toEqual([200, 'no-store']);
    expect(text).not.toContain(made.key);
    expect(text).not.toContain('"key"');
  }
});

test.each([
  ['GET /api/keys', { ring: fails }, 'read now'],
  ['GET /api/keys/{id}', { ring: fails }, 'read now'],
  ['POST /api/keys', { changeRing: fails }, 'may have been created'],
  ['PATCH /api/keys/{id}', { changeRing: fails }, 'may have been changed'],
  ['DELETE /api/keys/{id}', { changeRing: fails }, 'may have been changed'],
] as const)('BILL-14 %s is 503 while the store is down, and reports what is uncertain', async (name, faults, words) => {
  const { world, send } = await createScene(faults);
  const { key } = await world.create();
  const id = (await world.list()).at(-1)?.keyId ?? key.hash;
  const body = name.startsWith('P') ? { name: 'B' } : undefined;
  const answer = await send(name, id, body);
  expect([answer.status, answer.body.error.code]).toEqual([503, 'service_unavailable']);
  expect(answer.body.error.message).toContain(words);
});
