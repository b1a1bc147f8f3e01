import { ulid } from 'ulid';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { HOLDS_MAX } from '../../../lambdas/core/ledger/account.ts';
import { parseUsd } from '../../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../../lib/local/upstreams/server.ts';
import { LIMIT_BYTES } from '../../support/hostile-bodies.ts';
import { type Holder, type HostileGateway, startHostileGateway } from '../../support/hostile-gateway.ts';
import { judge, readError } from '../../support/hostile-oracle.ts';
import { hasCap, namesModelInPath, newRoutes, type PostRoute } from '../../support/hostile-routes.ts';
import { openWire, readReply, toBytes } from '../../support/hostile-wire.ts';

let vendor: Simulator;
const started: HostileGateway[] = [];
beforeAll(async () => {
  vendor = await startSimulator();
});
afterEach(async () => {
  for (const gateway of started.splice(0)) await gateway.stop();
});
afterAll(() => vendor.stop());

const open = async (environment: Readonly<Record<string, string>> = {}, reachable = true): Promise<HostileGateway> => {
  const gateway = await startHostileGateway({ vendor: reachable ? vendor.url : undefined, environment });
  started.push(gateway);
  return gateway;
};

interface Sent {
  readonly headers: readonly string[];
  readonly body?: string;
  readonly target?: string;
  readonly method?: string;
}

/** What one request is answered with: its status and code, whether or not all of its body was taken. */
const outcome = async (gateway: HostileGateway, route: PostRoute, sent: Sent): Promise<string> => {
  const socket = await openWire(gateway.port);
  const reading = readReply(socket);
  const { method = 'POST', target = route.target, headers, body = JSON.stringify(route.body('hi')) } = sent;
  socket.write(toBytes({ method, target, headers, body, keepAlive: true }));
  const reply = await reading;
  socket.destroy();
  judge(reply, route.shape);
  if (reply.status < 400) return String(reply.status);
  const { code, param } = readError(reply, route.shape);
  return code === 'invalid_request_error' ? `${reply.status} ${param}` : `${reply.status} ${code}`;
};

const owned = async (gateway: HostileGateway, route: PostRoute, holder?: Holder): Promise<readonly string[]> =>
  route.headers((await gateway.issue(holder)).apiKey);

const LIMITED = '429 rate_limit_exceeded';
const tooLong = `content-length: ${LIMIT_BYTES + 1}`;
const without = (headers: readonly string[]): readonly string[] =>
  headers.filter((line) => !line.startsWith('provider-'));

const named = <T extends PostRoute>(routes: readonly T[]) => routes.map((route) => [route.name, route] as const);
const ofMessages = newRoutes.filter(({ shape }) => shape === 'messages');
const billed = newRoutes.filter((route) => route.billed);
const capped = billed.filter(hasCap);

test.each(named(newRoutes))('GEN-8 %s: 404, 405, the 429 of the address, 401', async (_, route) => {
  const gateway = await open({ LIMIT_ADDRESS_PER_SECOND: '1', LIMIT_ADDRESS_BURST: '2' });
  const seen: string[] = [];
  for (let sent = 0; sent < 4; sent += 1) seen.push(await outcome(gateway, route, { headers: [], body: '{' }));
  expect(seen).toEqual(['401 missing_api_key', '401 missing_api_key', LIMITED, LIMITED]);
  expect(await outcome(gateway, route, { headers: [], method: 'PUT' })).toBe('405 method_not_allowed');
  const nowhere = route.target.replace(/(\?.*)?$/, '/nowhere/nowhere');
  expect(
    await outcome(
      gateway,
      { ...route, shape: nowhere.includes('/v1/models') ? 'plain' : route.shape },
      { headers: [], target: nowhere },
    ),
  ).toBe('404 not_found');
});

test.each(named(newRoutes))('GEN-8 %s: 401, the 429 of the key, 403', async (_, route) => {
  const gateway = await open({ LIMIT_KEY_PER_SECOND: '1', LIMIT_KEY_BURST: '2' });
  const seenBy = async (headers: readonly string[]) => {
    const seen: string[] = [];
    for (let sent = 0; sent < 3; sent += 1) seen.push(await outcome(gateway, route, { headers, body: '{' }));
    return seen;
  };
  const revoked = '401 revoked_api_key';
  expect(await seenBy(await owned(gateway, route, { revoked: true }))).toEqual([revoked, revoked, revoked]);
  const blocked = '403 account_blocked';
  expect(await seenBy(await owned(gateway, route, { blocked: true }))).toEqual([blocked, blocked, LIMITED]);
});

test.each(named(newRoutes))('GEN-8 %s: 403, 413, 415, the 400 of the JSON, the rest', async (_, route) => {
  const gateway = await open();
  const good = await owned(gateway, route);
  const blocked = await owned(gateway, route, { blocked: true });
  const wrong = ['content-encoding: gzip', 'content-type: multipart/form-data'];
  const sending = (headers: readonly string[], body = '{') => outcome(gateway, route, { headers, body });
  expect(await sending([...blocked, tooLong, ...wrong])).toBe('403 account_blocked');
  expect(await sending([...good, tooLong, ...wrong])).toBe('413 payload_too_large');
  expect(await sending([...good, ...wrong])).toBe('415 unsupported_media_type');
  expect(await sending([...good, 'content-type: multipart/form-data'])).toBe('400 content-type');
  expect(await sending(good)).toBe('400 null');
  const unknown = { model: 'no-such-model' };
  const target = route.target.replace(route.model, 'no-such-model');
  const body = JSON.stringify(route.body('hi', namesModelInPath(route) ? {} : unknown));
  expect(await outcome(gateway, route, { headers: [...good, 'content-encoding: br'], body, target })).toBe(
    '415 unsupported_media_type',
  );
  expect(await outcome(gateway, route, { headers: good, body, target })).toBe('404 model_not_found');
});

test.each(named(ofMessages))(
  "AUTH-2 GEN-8 %s: the version's 400 stands among the checks of the body",
  async (_, route) => {
    const gateway = await open();
    const good = without(await owned(gateway, route));
    const poor = without(await owned(gateway, route, { balanceUsd: '0' }));
    const blocked = without(await owned(gateway, route, { blocked: true }));
    const revoked = without(await owned(gateway, route, { revoked: true }));
    expect(await outcome(gateway, route, { headers: revoked })).toBe('401 revoked_api_key');
    expect(await outcome(gateway, route, { headers: blocked })).toBe('403 account_blocked');
    expect(await outcome(gateway, route, { headers: [...good, tooLong] })).toBe('413 payload_too_large');
    const bodies = [
      route.body('hi', { model: 'no-such-model' }),
      route.body('hi', { unknown: 1 }),
      route.body('hi', { messages: 0 }),
    ];
    for (const body of [...bodies, route.body('hi')]) {
      for (const headers of [good, poor]) {
        expect(await outcome(gateway, route, { headers, body: JSON.stringify(body) })).toBe('400 provider-version');
      }
    }
  },
);

test.each(named(newRoutes))('GEN-8 %s: the 404 and 400 of the request, 503 model_unavailable', async (_, route) => {
  const gateway = await open({}, false);
  const headers = await owned(gateway, route);
  expect(await outcome(gateway, route, { headers })).toBe('503 model_unavailable');
  const unknown = JSON.stringify(route.body('hi', { unknown: 1 }));
  expect(await outcome(gateway, route, { headers, body: unknown })).toBe('400 unknown');
  const target = route.target.replace(route.model, 'no-such-model');
  const body = JSON.stringify(route.body('hi', namesModelInPath(route) ? {} : { model: 'no-such-model' }));
  expect(await outcome(gateway, route, { headers, body, target })).toBe('404 model_not_found');
});

const CAP = 1_000_000_000;

/** A good body of the route, but dearer than any request may be. */
const dear = (route: PostRoute): string => {
  const member =
    route.name === 'messages' ? { max_tokens: CAP, stream: true } : { max_output_tokens: CAP, stream: true };
  return JSON.stringify(
    route.body('hi', namesModelInPath(route) ? { generationConfig: { maxOutputTokens: CAP } } : member),
  );
};

test.each(named(capped))('GEN-8 %s: 503 model_unavailable, the 400 of the budget, LIM-8, 402', async (_, route) => {
  const unreachable = await open({}, false);
  const body = dear(route);
  const lost = await owned(unreachable, route);
  expect(await outcome(unreachable, route, { headers: lost, body })).toBe('503 model_unavailable');

  const gateway = await open();
  const poor = await owned(gateway, route, { balanceUsd: '0' });
  expect(await outcome(gateway, route, { headers: poor, body })).toBe('400 request_budget_exceeded');
  const { apiKey, accountId } = await gateway.issue({ balanceUsd: '2' });
  const each = { accountId, amountPicos: parseUsd('0.01'), expiresAtMs: 0, sweepAtMs: 0, previousHoldId: undefined };
  for (let held = 0; held < HOLDS_MAX; held += 1) await gateway.ledger.hold({ ...each, holdId: `${ulid()}.0` });
  const full = route.headers(apiKey);
  expect(await outcome(gateway, route, { headers: full, body })).toBe('400 request_budget_exceeded');
  expect(await outcome(gateway, route, { headers: full })).toBe(LIMITED);
});

test.each(named(billed))(
  "AUTH-4 GEN-8 %s: 402 goes before the upstream's error, which is never asked for",
  async (_, route) => {
    const gateway = await open();
    const calls = vendor.requests.length;
    const body = JSON.stringify(route.body('[[status 500]]'));
    const poor = await owned(gateway, route, { balanceUsd: '0' });
    expect(await outcome(gateway, route, { headers: poor, body })).toBe('402 insufficient_balance');
    expect(vendor.requests.length).toBe(calls);
    expect(await outcome(gateway, route, { headers: await owned(gateway, route), body })).toBe('502 upstream_error');
  },
);

test.each(named(newRoutes.filter((route) => !route.billed)))(
  'AUTH-4 BILL-17 %s is free: no balance is looked at, and nothing is held',
  async (_, route) => {
    const gateway = await open();
    const { apiKey, accountId } = await gateway.issue({ balanceUsd: '0' });
    const headers = route.headers(apiKey);
    expect(await outcome(gateway, route, { headers })).toBe('200');
    vendor.next({ refusal: { kind: 'status', status: 500 } });
    expect(await outcome(gateway, route, { headers })).toBe('502 upstream_error');
    expect(await gateway.ledger.readAccount(accountId)).toMatchObject({ spentPicos: 0n, holds: new Map() });
  },
);

test.each(named(newRoutes))(
  'IDEM-5 FALL-4 BILL-16 %s: what its headers say is looked at before the money',
  async (_, route) => {
    const gateway = await open();
    const good = await owned(gateway, route, { balanceUsd: '0' });
    const saying = (header: string) => outcome(gateway, route, { headers: [...good, header] });
    const takesKeys = ['responses', 'images', 'videos'].includes(route.name);
    expect(await saying('idempotency-key: a')).toBe(
      takesKeys ? '402 insufficient_balance' : '400 idempotency_not_supported',
    );
    expect(await saying('idempotency-key: a b')).toBe('400 idempotency-key');
    expect(await saying('x-service-fallback-model: a')).toBe('400 invalid_fallback_model');
    expect(await saying('x-service-dry-run: a')).toBe('400 x-service-dry-run');
    expect(await saying('x-service-dry-run: true')).toBe('200');
  },
);
