import { expect, test } from 'vitest';
import { holdAll, openCircuit, sendTo, tell } from '../../support/circuit-hostile.ts';
import { billed, circuitSuite, dear, named } from '../../support/circuit-hostile-suite.ts';
import { within } from '../../support/gateway-process.ts';
import {
  CLAUDE,
  chat,
  creations,
  messages,
  namesModelInPath,
  type PostRoute,
  postRoutes,
  responses,
} from '../../support/hostile-routes.ts';

const { open, vendor } = circuitSuite();

const keyed = [chat, responses];
const nowhere = (route: PostRoute) =>
  namesModelInPath(route)
    ? { target: route.target.replace(route.model, 'no-such-model') }
    : { body: { model: 'no-such-model' } };

const NO_RESERVE = 'x-service-fallback-model: no-such-model';
const BARRED = '503 service_unavailable';

test.each(named(postRoutes))(
  'GEN-8 %s: the 415 and 400 of the body, the 400 of a header, the 400 and 404 of the request',
  async (_, route) => {
    const gateway = await open();
    const { apiKey } = await gateway.issue({ balanceUsd: '0' });
    const wrong = [
      ['idempotency-key: no key', '400 idempotency-key'],
      ['x-service-dry-run: perhaps', '400 x-service-dry-run'],
    ] as const;
    for (const [header, refusal] of wrong) {
      const sending = (more: readonly string[], sent: object) =>
        tell(gateway, route, apiKey, { headers: [header, ...more], ...sent });
      expect(await sending(['content-encoding: br'], { body: '{' })).toBe('415 unsupported_media_type');
      expect(await sending(['content-type: multipart/form-data'], { body: '{' })).toBe('400 content-type');
      for (const body of ['{', '[]', '{"a":1e400}']) expect(await sending([], { body })).toMatch(/^400 (null|a)$/);
      for (const sent of [{ body: { unknown: 1 } }, nowhere(route), {}]) expect(await sending([], sent)).toBe(refusal);
    }
    expect(vendor().requests).toHaveLength(0);
  },
);

const withStream = [chat, responses, messages].map((route) => [route.name, route, { stream: true }] as const);
const withoutKeys = postRoutes
  .filter((route) => ![...keyed, ...creations].includes(route))
  .map((route) => [route.name, route, {}] as const);

test.each([...withStream, ...withoutKeys])(
  'GEN-8 IDEM-5 %s with %o: a key that is not served goes behind the JSON and before the fields',
  async (_, route, members) => {
    const gateway = await open();
    const { apiKey } = await gateway.issue({ balanceUsd: '0' });
    const headers = ['idempotency-key: a-key'];
    expect(await tell(gateway, route, apiKey, { headers, body: '{' })).toBe('400 null');
    const told = await tell(gateway, route, apiKey, { headers, body: { ...members, unknown: 1 } });
    expect(told).toBe('400 idempotency_not_supported');
    expect(await tell(gateway, route, apiKey, { headers: [...headers, NO_RESERVE], body: members })).toBe(told);
  },
);

test.each(named([...keyed, ...creations]))(
  'GEN-8 IDEM-2 IDEM-3 %s: the 400 of the JSON, then the key: its answer or 422, whatever the request is otherwise',
  async (_, route) => {
    const gateway = await open();
    const { apiKey, accountId } = await gateway.issue();
    const headers = ['idempotency-key: a-key'];
    const sending = (body: string | object, more: readonly string[] = []) =>
      sendTo(gateway, route, apiKey, { headers: [...headers, ...more], body });
    const first = await sending({});
    expect(first.told).toBe('200');
    expect((await sending('{')).told).toBe('400 null');
    for (const body of [{ unknown: 1 }, { model: 'no-such-model' }, dear(route)].map(withoutStream)) {
      expect((await sending(body)).told).toBe('422 idempotency_key_mismatch');
    }
    // Videos have no reserve under any key.
    const reserve = creations.includes(route) ? '400 invalid_fallback_model' : '422 idempotency_key_mismatch';
    expect((await sending({}, [NO_RESERVE])).told).toBe(reserve);
    await openCircuit(gateway, route);
    await holdAll(gateway, accountId);
    const calls = vendor().requests.length;
    const again = await sending({});
    expect([again.told, again.reply.body]).toEqual(['200 again', first.reply.body]);
    // The same without its key is barred.
    expect(await tell(gateway, route, apiKey)).toBe(BARRED);
    expect(vendor().requests).toHaveLength(calls);
  },
);

const withoutStream = ({ stream: _, ...members }: { readonly stream?: unknown }): object => members;

test.each(named([...keyed, ...creations]))(
  'GEN-8 IDEM-4 %s: while a key is in use, 422 for another body and 409 for its own',
  async (_, route) => {
    const gateway = await open();
    const { apiKey } = await gateway.issue();
    const headers = ['idempotency-key: a-key'];
    const gate = vendor().gate();
    const first = tell(gateway, route, apiKey, { headers });
    await within('the first call', gate.waitFor(1));
    for (const body of [{ unknown: 1 }, { model: 'no-such-model' }]) {
      expect(await tell(gateway, route, apiKey, { headers, body })).toBe('422 idempotency_key_mismatch');
    }
    expect(await tell(gateway, route, apiKey, { headers })).toBe('409 idempotency_in_progress');
    gate.open();
    expect(await first).toBe('200');
  },
);

test.each(named(keyed))(
  'GEN-8 FALL-4 %s: the 400, 404 and 422 of the request, FALL-4, the 503 of its model or circuit',
  async (_, route) => {
    const gateway = await open();
    const { apiKey } = await gateway.issue();
    const headers = [NO_RESERVE];
    const sending = (body: object) => tell(gateway, route, apiKey, { headers, body });
    const refused = '400 invalid_fallback_model';
    await openCircuit(gateway, route);
    expect(await sending({ unknown: 1 })).toBe('400 unknown');
    expect(await sending({ model: 'no-such-model' })).toBe('404 model_not_found');
    if (route === chat) expect(await sending({ n: 2 })).toBe('422 unprocessable_entity');
    expect(await sending({})).toBe(refused);
    expect(await sending(dear(route))).toBe(refused);
    if (route === chat) {
      // Claude's own protocol has no place for it (CHAT-16).
      const foreign = { model: CLAUDE, metadata: { a: 'b' } };
      expect(await sending(foreign)).toBe(refused);
      expect(await tell(gateway, route, apiKey, { body: foreign })).toBe('400 metadata');
    }
    expect(await tell(gateway, route, apiKey, { headers: ['x-service-fallback-model: gpt-4.1-mini'] })).toBe(refused);
    expect(await tell(gateway, route, apiKey)).toBe(BARRED);
    const lost = await open({ vendor: undefined });
    const there = (await lost.issue()).apiKey;
    expect(await tell(lost, route, there, { headers })).toBe(refused);
    expect(await tell(lost, route, there)).toBe('503 model_unavailable');
  },
);

test.each(named(billed.filter((route) => !keyed.includes(route))))('FALL-4 %s has no reserves', async (_, route) => {
  const gateway = await open();
  const { apiKey } = await gateway.issue({ balanceUsd: '0' });
  expect(await tell(gateway, route, apiKey, { headers: [NO_RESERVE] })).toBe('400 invalid_fallback_model');
});
