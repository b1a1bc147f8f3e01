import { expect, test } from 'vitest';
import { GatewayError } from '../../../lambdas/core/errors/gateway-error.ts';
import { createArkVideoWire } from '../../../lambdas/providers/byteplus/video-wire.ts';
import { createOpenaiVideoWire } from '../../../lambdas/providers/openai/videos-wire.ts';
import * as ark from '../../fixtures/byteplus/video-tasks.ts';
import * as openai from '../../fixtures/openai-videos/videos.ts';
import { cutAfter, inPieces } from './openai/stream-reading.ts';
import { CANARY, errorOf, failureOf, statusOf, wireWorld } from './video-wire-world.ts';

/** Video providers for which the tests below run. */
const vendors = [
  {
    name: 'Ark',
    create: createArkVideoWire,
    path: '/contents/generations/tasks',
    answers: [ark.queued, ark.running, ark.succeeded, ark.failedWith('InternalServiceError', 'a fault'), ark.expired],
    failed: ark.failedWith,
    refusal: (code: string, message: string) => ({ error: { code, message } }),
    busy: 'ServerOverloaded',
    broke: 'AccountOverdueError',
  },
  {
    name: 'OpenAI',
    create: createOpenaiVideoWire,
    path: '/videos',
    answers: [openai.queued, openai.inProgress, openai.completed, openai.failedWith('server_error', 'a fault')],
    failed: openai.failedWith,
    refusal: (code: string, message: string) => ({ error: { code, message, type: 'x', param: null } }),
    busy: 'rate_limit_exceeded',
    broke: 'insufficient_quota',
  },
] as const;

const ids = ['a', 'cgt-20261101183217-t8rzv', 'a/b', '../../models', '/', '...', '?x=1#y', 'a%2fb', 'x'.repeat(1_024)];

test.for(vendors.flatMap((vendor) => ids.map((id) => ({ ...vendor, id }))))(
  'VID-7 $name: the id $id is stored unchanged and requested as one path segment',
  async ({ create, path, id }) => {
    const world = wireWorld(create, { body: { id } }, { body: {} });
    expect(await world.create()).toBe(id);
    await world.poll(id);
    const [creation, poll] = world.requests;
    expect(creation).toMatchObject({ method: 'POST', url: `https://vendor.test/v1${path}` });
    const url = new URL(poll!.url);
    const base = `/v1${path}/`;
    expect([poll!.method, url.search, url.hash, url.pathname.startsWith(base)]).toEqual(['GET', '', '', true]);
    expect(url.pathname.slice(base.length)).not.toContain('/');
    expect(decodeURIComponent(url.pathname.slice(base.length))).toBe(id);
  },
);

const noIds = [undefined, null, 1, {}, [], '', ' ', '.', '..', 'a b', 'a\n', 'é', '\ud800', 'x'.repeat(1_025)];

test.for(vendors.flatMap((vendor) => noIds.map((id) => ({ ...vendor, id }))))(
  'ERR-9 $name: a creation with the id $id is upstream_error',
  async ({ create, id }) => {
    const error = await errorOf(wireWorld(create, { body: { id } }).create());
    expect(error).toMatchObject({ code: 'upstream_error', status: 502 });
  },
);

test.for(
  vendors.flatMap((vendor) => ['', '<html>', '[]', 'null', '"a"', '{"id":'].map((body) => ({ ...vendor, body }))),
)('ERR-9 $name: a creation with the response $body is upstream_error', async ({ create, body }) => {
  expect(await errorOf(wireWorld(create, { body }).create())).toMatchObject({ code: 'upstream_error' });
});

test.for(vendors.flatMap((vendor) => [200, 201, 202].map((status) => ({ ...vendor, status }))))(
  'VID-1 $name: a creation with status $status has begun',
  async ({ create, status }) => {
    expect(await wireWorld(create, { status, body: { id: 'a' } }).create()).toBe('a');
  },
);

test.for(
  vendors.flatMap((vendor) => [204, 206, 301, 302, 307, 418, 500, 502].map((status) => ({ ...vendor, status }))),
)('ERR-9 $name: a creation with status $status is upstream_error and sent once', async ({ create, status }) => {
  const world = wireWorld(create, { status, headers: { location: 'https://other.test/' }, body: { id: 'a' } });
  expect(await errorOf(world.create())).toMatchObject({ code: 'upstream_error' });
  expect(world.requests).toHaveLength(1);
});

test.for(vendors)('ERR-5 $name: the provider key is sent only in its header, also with a poll', async ({ create }) => {
  const world = wireWorld(create, { body: { id: 'a' } }, { body: {} });
  await world.create();
  await world.poll();
  for (const { headers, url, body } of world.requests) {
    expect(headers).toMatchObject({ authorization: `Bearer ${CANARY}`, 'accept-encoding': 'identity' });
    expect(JSON.stringify([url, body])).not.toContain(CANARY);
  }
  expect(world.requests[1]).toMatchObject({ headers: { accept: 'application/json' } });
  expect(world.requests[1]?.headers).not.toHaveProperty('content-type');
  expect(world.requests[1]?.body).toBe('');
});

const cases = vendors.flatMap(({ name, create, answers }) =>
  answers.map((answer) => ({ name, create, answer, status: answer.status })),
);

test.for(cases)('VID-7 $name: $status cut at every byte is unknown', async ({ create, answer }) => {
  const bytes = Buffer.from(JSON.stringify(answer));
  const whole = await statusOf(create, { body: inPieces(bytes) });
  expect(whole.kind).not.toBe('unknown');
  for (let at = 0; at < bytes.length; at += 1) {
    const [begun, rest] = [bytes.subarray(0, at), bytes.subarray(at)];
    expect((await statusOf(create, { body: inPieces(begun) })).kind).toBe('unknown');
    expect((await statusOf(create, { body: cutAfter(begun) })).kind).toBe('unknown');
    expect((await statusOf(create, { body: inPieces(begun, rest) })).kind).toBe(whole.kind);
  }
});

const nothing = ['', '<html>', '[]', 'null', '{}', '{"status":null}', '{"status":["queued"]}', '{"status":"QUEUED"}'];

test.for(vendors.flatMap((vendor) => [...nothing, '{"status":"paused"}'].map((body) => ({ ...vendor, body }))))(
  'VID-7 $name: $body is unknown',
  async ({ create, body }) => {
    expect(await statusOf(create, { body })).toEqual({ kind: 'unknown' });
  },
);

test.for(vendors)('VID-7 $name: a job that the provider does not know is gone', async ({ create, refusal }) => {
  const world = wireWorld(create, { status: 404, body: refusal('NotFound', 'no such task') });
  expect(await world.poll()).toEqual({ kind: 'gone' });
  expect(world.notices).toEqual([]);
});

test.for(vendors.flatMap((vendor) => ['', '<html>404</html>', '{"error":'].map((body) => ({ ...vendor, body }))))(
  'VID-7 $name: 404 with $body says nothing about the job',
  async ({ create, body }) => {
    expect(await statusOf(create, { status: 404, body })).toEqual({ kind: 'unknown' });
  },
);

test.for(
  vendors.flatMap((vendor) =>
    [201, 204, 301, 302, 400, 401, 403, 429, 500, 503, 504].map((status) => ({ ...vendor, status })),
  ),
)(
  'VID-7 $name: $status to a poll is an error, whatever its body, and not followed',
  async ({ create, status, answers }) => {
    for (const body of [...answers, '', '<html>']) {
      const world = wireWorld(create, { status, headers: { location: 'https://other.test/' }, body });
      await errorOf(world.poll());
      expect(world.requests).toHaveLength(1);
    }
  },
);

test.for(vendors)('ERR-3 $name: an error about the gateway’s account is 503 and reported', async (vendor) => {
  const body = vendor.refusal(vendor.broke, 'pay first');
  for (const status of [400, 403, 404, 429]) {
    const world = wireWorld(vendor.create, { status, body }, { status, body });
    expect(await errorOf(world.create())).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 30 });
    expect(await errorOf(world.poll())).toMatchObject({ code: 'service_unavailable' });
    expect(world.notices).toEqual(['vendor_refused_us openai', 'vendor_refused_us openai']);
  }
});

test.for(vendors)('ERR-9 $name: no capacity is 429 with the provider’s wait', async ({ create, refusal, busy }) => {
  const answer = { status: 429, headers: { 'retry-after': '7' }, body: refusal(busy, 'wait') };
  const error = await errorOf(wireWorld(create, answer).create());
  expect(error).toMatchObject({ code: 'upstream_capacity', retryAfterSeconds: 7 });
});

test.for(vendors)('ERR-9 $name: a missing model is 503 and reported', async ({ create, refusal }) => {
  const world = wireWorld(create, { status: 404, body: refusal('InvalidEndpointOrModel.NotFound', 'no such model') });
  expect(await errorOf(world.create())).toMatchObject({ code: 'model_unavailable', param: 'model' });
  expect(world.notices).toEqual(['vendor_model_missing openai']);
});

test.for(vendors)(
  'VID-3 $name: a failure has the provider’s message and says that nothing was charged',
  async (vendor) => {
    const { code, message } = failureOf(await statusOf(vendor.create, { body: vendor.failed('x', 'The GPU broke') }));
    expect([code, message]).toEqual([
      'upstream_error',
      'The provider could not create the video. Its message: The GPU broke. Nothing was charged.',
    ]);
  },
);

test.for(vendors)('ERR-5 $name: no failure and no refusal shows the provider key, even truncated', async (vendor) => {
  for (let at = 300; at < 520; at += 1) {
    const words = `${'x'.repeat(at)}${CANARY}${CANARY}`;
    const { message } = failureOf(await statusOf(vendor.create, { body: vendor.failed('x', words) }));
    expect(message).not.toMatch(/sk-v/);
    expect(message.length).toBeLessThanOrEqual(500);
    expect(message).toMatch(/ Nothing was charged\.$/);
  }
  const body = vendor.refusal('InvalidParameter', `bad ${CANARY}`);
  expect((await errorOf(wireWorld(vendor.create, { status: 400, body }).create())).message).toContain('bad [redacted]');
});

test.for(vendors)('VID-3 $name: a failure is text that can be stored, whatever the provider sends', async (vendor) => {
  for (const words of ['😀'.repeat(400), `x${'😀'.repeat(400)}`, '\ud800 \udc00', ' '.repeat(900), '']) {
    const { message } = failureOf(await statusOf(vendor.create, { body: vendor.failed('x', words) }));
    expect([message.isWellFormed(), message.length <= 500]).toEqual([true, true]);
    expect(message).not.toContain('\ufffd\ufffd');
    expect(message).toMatch(/^The provider could not create the video\..* Nothing was charged\.$/s);
  }
});

test.for(vendors.flatMap((vendor) => [null, undefined, 'text', 7, [], {}].map((error) => ({ ...vendor, error }))))(
  'VID-3 $name: a failure whose error is $error is a failure',
  async ({ create, failed, error }) => {
    const status = await statusOf(create, { body: { ...failed('x', 'y'), error } });
    expect(failureOf(status)).toEqual({
      code: 'upstream_error',
      message: 'The provider could not create the video. Nothing was charged.',
    });
  },
);

test.for(vendors)(
  'ERR-3 $name: a failure of the gateway’s account is reported, the client gets no details',
  async (vendor) => {
    const world = wireWorld(vendor.create, {
      body: vendor.failed(vendor.broke, 'Your account [2100000001] must pay.'),
    });
    expect(failureOf(await world.poll())).toEqual({
      code: 'upstream_error',
      message: 'The provider could not create the video. Nothing was charged.',
    });
    expect(world.notices).toEqual(['vendor_refused_us openai']);
  },
);

test.for(vendors)(
  'LIM-6 $name: an abort is thrown as its reason, before and during the response',
  async ({ create }) => {
    const reason = new GatewayError('upstream_timeout', 'time is over');
    await expect(wireWorld(create, { body: {} }).poll('a', AbortSignal.abort(reason))).rejects.toBe(reason);
    const late = new AbortController();
    const body = (async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from('{');
      late.abort(reason);
      throw reason;
    })();
    await expect(wireWorld(create, { body }).poll('a', late.signal)).rejects.toBe(reason);
  },
);
