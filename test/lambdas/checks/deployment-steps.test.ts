import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type DeploymentCheck,
  runSteps,
  type StepName,
  type StepResult,
  stepNames,
  steps,
} from '../../../lambdas/checks/deployment-steps.ts';
import { checkAccounts } from '../../../lambdas/core/accounts/check-account.ts';
import { type Simulator, startSimulator } from '../../../local/simulators/server.ts';
import { type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';

const SECRET = 'the-origin-secret-of-this-test';
const MACHINE = '203.0.113.7';
const NETWORK = '2001:db8::7';

type Send = typeof fetch;
type Change = (url: URL, init: RequestInit, send: Send) => Promise<Response>;

/** Replaces the viewer function of CloudFront: sets the client IP of the connection, and the secret of the edge. */
const throughEdge =
  (address: string): Change =>
  (url, init, send) => {
    const headers = new Headers(init.headers);
    headers.set('x-client-ip', address);
    headers.set('x-origin-secret', SECRET);
    return send(url, { ...init, headers });
  };
const straight: Change = (url, init, send) => send(url, init);

const doors = {
  cloudfront: {
    environment: { FRONT_DOOR: 'cloudfront', ORIGIN_SECRET: SECRET },
    pass: throughEdge(MACHINE),
    own: MACHINE,
  },
  'api-gateway': { environment: { FRONT_DOOR: 'api-gateway' }, pass: straight, own: '127.0.0.1' },
} as const;

describe.each(Object.entries(doors))('behind %s', (name, { environment, pass, own }) => {
  let vendor: Simulator;
  let gateway: InProcessGateway;
  let apiKey: string;
  beforeAll(async () => {
    vendor = await startSimulator();
    gateway = await startInProcess({ vendorUrl: vendor.url, environment });
    ({ apiKey } = await gateway.issue({ accountId: checkAccounts.deployment, balanceUsd: '0.05' }));
  });
  afterAll(async () => {
    await gateway.stop();
    await vendor.stop();
  });
  afterEach(() => vi.unstubAllGlobals());

  const direct = () => (name === 'cloudfront' ? [gateway.url.replace('127.0.0.1', 'localhost')] : []);
  /** The front door of the test. A request to the other host name of this machine bypasses it. */
  const through = (change: Change): Send => {
    const passed: Send = (input, init = {}) => {
      const url = new URL(String(input));
      return url.hostname === 'localhost' ? fetch(url, init) : pass(url, init, fetch);
    };
    return (input, init = {}) => change(new URL(String(input)), init, passed);
  };
  const checkWith = (change: Change, more: Partial<DeploymentCheck> = {}): DeploymentCheck => ({
    baseUrlOf: () => gateway.url,
    apiKey,
    directUrls: direct(),
    ownAddress: async () => own,
    putImage: gateway.deps.media.put,
    newMediaToken: () => '0123456789abcdef'.repeat(2),
    readWebhook: async () => ({ isWell: true, detail: 'registered' }),
    skipped: name === 'cloudfront' ? {} : { 'direct access': 'there is nothing to bypass' },
    clock: gateway.deps.clock,
    send: through(change),
    timeoutMs: 30_000,
    ...more,
  });
  const results = (change: Change = straight, more: Partial<DeploymentCheck> = {}): Promise<readonly StepResult[]> =>
    Array.fromAsync(runSteps(checkWith(change, more)));
  const failuresOf = async (change: Change, more: Partial<DeploymentCheck> = {}) =>
    (await results(change, more)).filter(({ status }) => status === 'failed');

  test('OPS-13 every step succeeds on the real gateway, and no result contains the API key', async () => {
    const all = await results();
    expect(all.map((step) => [step.name, step.status, step.status === 'failed' ? step.detail : ''])).toEqual(
      stepNames.map((step) => [step, step === 'direct access' && name !== 'cloudfront' ? 'skipped' : 'ok', '']),
    );
    expect(JSON.stringify(all)).not.toContain(apiKey);
    expect(all.find((step) => step.name === 'client IP')?.detail).toBe('the address of this machine');
    expect(JSON.stringify(all)).not.toContain(own);
  });

  test('OPS-13 the check charges only the streamed chat, and its margin is not counted', async () => {
    const before = await gateway.ledger.readAccount(checkAccounts.deployment);
    const measured = vi.spyOn(gateway.deps.reporting, 'measured');
    await results(straight, { skipped: { ...checkWith(straight).skipped, 'streamed chat': 'costs money' } });
    expect((await gateway.ledger.readAccount(checkAccounts.deployment))?.spentPicos).toBe(before?.spentPicos);
    await results();
    const after = await gateway.ledger.readAccount(checkAccounts.deployment);
    expect(after && before && after.spentPicos > before.spentPicos).toBe(true);
    expect(measured.mock.calls.filter(([values]) => 'charged_micro_usd' in values).length).toBe(1);
    expect(measured.mock.calls.filter(([values]) => 'margin_micro_usd' in values)).toEqual([]);
    measured.mockRestore();
  });

  const isDryRun = ({ headers }: RequestInit): boolean => new Headers(headers).has('x-service-dry-run');
  const isLarge = ({ body }: RequestInit): boolean => String(body).length > 3_000_000;
  const isForged = ({ headers }: RequestInit): boolean => new Headers(headers).has('x-forwarded-for');
  const gone = (status: number): Response => new Response('{"message":"x"}', { status });
  const at =
    (isMeant: (url: URL, init: RequestInit) => boolean, answer: () => Response | Promise<Response>): Change =>
    async (url, init, send) =>
      isMeant(url, init) ? answer() : send(url, init);

  const broken: readonly (readonly [StepName, string, Change])[] = [
    [
      'health',
      'status 502',
      at(
        ({ pathname, hostname }) => pathname === '/health' && hostname !== 'localhost',
        () => gone(502),
      ),
    ],
    [
      'dry run',
      'status 500',
      at(
        (_, init) => isDryRun(init) && !isForged(init) && !isLarge(init),
        () => gone(500),
      ),
    ],
    [
      'large body',
      'status 413',
      at(
        (_, init) => isLarge(init),
        () => gone(413),
      ),
    ],
    [
      'client IP',
      'no client IP',
      at(
        (_, init) => isForged(init),
        () => Response.json({ object: 'dry_run', model: 'm', hold_usd: '0' }),
      ),
    ],
    [
      'streamed chat',
      'a stream that ends early',
      at(
        ({ pathname }, init) => pathname === '/v1/chat/completions' && !isDryRun(init),
        () => new Response('data: {"id":"x"}\n\n', { headers: { 'content-type': 'text/event-stream' } }),
      ),
    ],
    [
      'bot',
      'status 404',
      at(
        ({ pathname }) => pathname === '/bot',
        () => gone(404),
      ),
    ],
    [
      'image link',
      'other bytes',
      at(
        ({ pathname }) => pathname.startsWith('/media/'),
        () => new Response('x'),
      ),
    ],
    [
      'pages',
      'status 404 at /api-reference',
      at(
        ({ pathname }) => pathname === '/api-reference',
        () => gone(404),
      ),
    ],
  ];
  // One front door is enough for these, because each request with a large body takes time.
  test.each(name === 'cloudfront' ? broken : [])(
    'OPS-13 a broken %s fails alone, with what was found and what to do',
    async (step, found, change) => {
      const failures = await failuresOf(change);
      const advice = steps.find((each) => each.name === step)?.advice ?? '';
      expect(failures.map((failure) => failure.name)).toEqual([step]);
      expect(failures[0]?.detail).toContain(`found ${found}`);
      expect(failures[0]?.detail.endsWith(`. ${advice}`)).toBe(true);
    },
  );

  test('OPS-13 another address, and a forged one, fail the step of the client IP', async () => {
    const seeing =
      (address: string): Change =>
      async (url, init, send) => {
        const response = await send(url, init);
        if (!response.headers.has('x-service-client-ip')) return response;
        const headers = new Headers(response.headers);
        headers.set('x-service-client-ip', address);
        return new Response(response.body, { status: response.status, headers });
      };
    expect((await failuresOf(seeing('198.51.100.9')))[0]?.detail).toContain('found another address.');
    expect((await failuresOf(seeing('192.0.2.1')))[0]?.detail).toContain('found the address that the client forged.');
    expect(await failuresOf(seeing(NETWORK))).toEqual([]);
    expect(await failuresOf(seeing('198.51.100.9'), { ownAddress: async () => undefined })).toEqual([]);
  });

  test('OPS-13 no other account gets the client IP', async () => {
    const { apiKey: other } = await gateway.issue();
    const seen = vi.fn<(header: string | null) => void>();
    await results(
      async (url, init, send) => {
        const response = await send(url, init);
        seen(response.headers.get('x-service-client-ip'));
        return response;
      },
      { apiKey: other },
    );
    expect(new Set(seen.mock.calls.flat())).toEqual(new Set([null]));
  });

  test('OPS-13 a request that the rate limit of the API key rejects is sent again after its Retry-After', async () => {
    const waits: number[] = [];
    const { clock } = gateway.deps;
    const after: typeof clock.after = (delayMs, callback) => {
      waits.push(delayMs);
      return clock.after(0, callback);
    };
    const busy = (times: number): Change => {
      let left = times;
      return async (url, init, send) => {
        if (!isForged(init) || left === 0) return send(url, init);
        left -= 1;
        const error = { code: 'rate_limit_exceeded' };
        return Response.json({ error }, { status: 429, headers: { 'retry-after': '2' } });
      };
    };
    expect(await failuresOf(busy(2), { clock: { now: clock.now, after } })).toEqual([]);
    expect(waits).toEqual([2_000, 2_000]);
    const failures = await failuresOf(busy(9), { clock: { now: clock.now, after } });
    expect(failures.map(({ detail }) => detail.includes('status 429 with the code rate_limit_exceeded'))).toEqual([
      true,
    ]);
  });

  test('OPS-13 an unreachable gateway fails every step without naming a header', async () => {
    const failures = await failuresOf(() => Promise.reject(new TypeError(`bad header Bearer ${apiKey}`)));
    expect(failures.length).toBeGreaterThan(6);
    expect(JSON.stringify(failures)).not.toContain(apiKey);
    expect(failures[0]?.detail).toContain('found no response (connection failed)');
  });

  test('OPS-13 an interrupt ends the current step and the check', async () => {
    const interrupt = new AbortController();
    const all = await results(
      async (url, init, send) => {
        if (url.pathname === '/api/models') interrupt.abort();
        return send(url, init);
      },
      { signal: interrupt.signal },
    );
    expect(all.map(({ status }) => status)).toEqual(['ok', 'failed']);
    expect(all[1]?.detail).toContain('found an interrupt of the check');
  });

  test('OPS-13 an image that cannot be stored, and a wrong webhook, fail their steps', async () => {
    const failures = await failuresOf(straight, {
      putImage: () => Promise.reject(new Error(`denied for ${apiKey}`)),
      readWebhook: async () => ({ isWell: false, detail: 'not registered' }),
    });
    expect(failures.map((step) => [step.name, step.detail.match(/found ([^.(]+)/)?.[1]?.trim()])).toEqual([
      ['bot', 'not registered'],
      ['image link', 'an image that was not stored'],
    ]);
    expect(JSON.stringify(failures)).not.toContain(apiKey);
  });

  if (name !== 'cloudfront') return;

  test('OPS-13 a function URL that accepts a direct call fails the step', async () => {
    const failures = await failuresOf(
      at(
        ({ hostname }) => hostname === 'localhost',
        () => Response.json({ status: 'ok' }),
      ),
    );
    expect(failures.map((step) => step.name)).toEqual(['direct access']);
    expect(failures[0]?.detail).toContain('found status 200. Check that FRONT_DOOR');
    const unknown = await failuresOf(straight, { directUrls: [] });
    expect(unknown.map((step) => step.detail.includes('found no function URL'))).toEqual([true]);
  });

  test("OPS-13 an edge that forwards the client's own header fails the client IP step", async () => {
    const failures = await failuresOf(straight, {
      send: (input, init = {}) => {
        const url = new URL(String(input));
        if (url.hostname === 'localhost') return fetch(url, init);
        const headers = new Headers(init.headers);
        headers.set('x-origin-secret', SECRET);
        if (!headers.has('x-client-ip')) headers.set('x-client-ip', MACHINE);
        return fetch(url, { ...init, headers });
      },
    });
    expect(failures.map((step) => step.name)).toEqual(['client IP']);
    expect(failures[0]?.detail).toContain('found the address that the client forged');
  });
});

test('OPS-13 a gateway without any provider key fails the steps of a model with the reason', async () => {
  const gateway = await startInProcess({ vendorUrl: undefined });
  try {
    const { apiKey } = await gateway.issue({ accountId: checkAccounts.canary });
    const check: DeploymentCheck = {
      baseUrlOf: () => gateway.url,
      apiKey,
      directUrls: [],
      ownAddress: async () => '127.0.0.1',
      putImage: gateway.deps.media.put,
      newMediaToken: () => '0123456789abcdef'.repeat(2),
      readWebhook: undefined,
      skipped: { 'direct access': 'there is nothing to bypass', 'streamed chat': 'costs money' },
      clock: gateway.deps.clock,
      send: fetch,
      timeoutMs: 30_000,
    };
    const all = await Array.fromAsync(runSteps(check));
    expect(
      all
        .filter(({ status }) => status === 'failed')
        .map((step) => [step.name, step.detail.includes('model_unavailable')]),
    ).toEqual([
      ['dry run', true],
      ['client IP', true],
      ['large body', true],
    ]);
    expect(all.find((step) => step.name === 'bot')?.detail).toBe('the route refuses an unsigned update');
  } finally {
    await gateway.stop();
  }
});
