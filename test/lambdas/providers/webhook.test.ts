import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createWebhookSender, webhookUrlProblem } from '../../../lambdas/providers/webhook.ts';
import { answering, watchConnections } from './connection-watch.ts';
import { closedPort, startVendor, type VendorServer } from './vendor-server.ts';

const KEY_SECRET = 'secret-canary';
const whsec = (name: string): string => `whsec_${Buffer.from(`${name}-canary`).toString('base64')}`;
const SECRETS = [whsec('newer'), whsec('older')];
const NOW = Date.UTC(2026, 10, 1, 0, 0, 7, 999);

const attempts = watchConnections();
const running: VendorServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

/** A client's server with a host name, as a client would write it. */
const clientThat = async (
  play: Parameters<typeof startVendor>[0],
): Promise<VendorServer & { readonly named: string }> => {
  const server = await startVendor(play);
  running.push(server);
  return { ...server, named: `${server.url.replace('127.0.0.1', 'client.example')}/hook?token=query-canary` };
};

const sender = (lookup = answering(['127.0.0.1']).lookup) =>
  createWebhookSender({
    lookup,
    now: () => NOW,
    reach: { address: (address) => address === '127.0.0.1', port: () => true },
  });

const body = JSON.stringify({ id: 'video_1', status: 'completed', prompt: 'é' });

const deliveryTo = (url: string) => ({ url, id: 'evt_1', body, secrets: SECRETS, keySecret: KEY_SECRET });

/** Result of a delivery that must fail. */
const failureOf = async (url: string) => {
  const result = await sender()(deliveryTo(url));
  expect(JSON.stringify(result)).not.toMatch(/canary/);
  expect(result.problem).toBeDefined();
  return result;
};
const problemOf = async (url: string) => (await failureOf(url)).problem;

test('VID-7, HOOK-1 a delivery is one POST of the body, signed with every secret and the time', async () => {
  const seen: IncomingHttpHeaders[] = [];
  const server = await clientThat((request, response) => {
    seen.push(request.headers);
    response.writeHead(204).end();
  });
  await sender()(deliveryTo(server.named));
  expect(server.requests).toEqual([{ method: 'POST', path: '/hook?token=query-canary', body }]);
  const { 'x-service-signature': signature, 'webhook-signature': signatures, ...others } = seen[0]!;
  expect(others).toEqual({
    host: new URL(server.named).host,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'model-gateway-webhook/1',
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Date.UTC(2026, 10, 1, 0, 0, 7) / 1_000),
    connection: 'close',
  });
  const [, seconds, hex] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(signature))!;
  expect(Number(seconds)).toBe(Date.UTC(2026, 10, 1, 0, 0, 7) / 1_000);
  const ours = createHmac('sha256', KEY_SECRET)
    .update(Buffer.from(`${seconds}.${server.requests[0]!.body}`))
    .digest('hex');
  expect(hex).toBe(ours);
  expect(String(signatures).split(' ')).toEqual(
    ['newer-canary', 'older-canary'].map((key) => {
      const digest = createHmac('sha256', key).update(`evt_1.${seconds}.${body}`).digest('base64');
      return `v1,${digest}`;
    }),
  );
});

test.for([200, 204, 299])('VID-7 a status of %i confirms the delivery', async (status) => {
  const server = await clientThat((_, response) => response.writeHead(status).end());
  expect(await sender()(deliveryTo(server.named))).toEqual({ status, problem: undefined });
  expect(server.requests).toHaveLength(1);
});

test.for([300, 301, 304, 307, 400, 404, 429, 500])(
  'VID-7 a status of %i does not confirm the delivery, and no redirect is followed',
  async (status) => {
    const server = await clientThat((request, response) =>
      request.url === '/there' ? response.end() : response.writeHead(status, { location: '/there' }).end('see there'),
    );
    expect(await failureOf(server.named)).toEqual({ status, problem: `the server returned ${status}.` });
    expect(server.requests).toHaveLength(1);
  },
);

test('VID-7 a response that never ends is not read, and its connection is closed', async () => {
  const read = vi.spyOn(IncomingMessage.prototype, 'read');
  const server = await clientThat((_, response) => {
    response.on('error', () => undefined);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  await sender()(deliveryTo(server.named));
  await vi.waitFor(() => expect(server.sockets[0]?.destroyed).toBe(true), { timeout: 30_000 });
  expect(
    read.mock.contexts.filter((message) => message instanceof IncomingMessage && message.statusCode === 200),
  ).toEqual([]);
  read.mockRestore();
});

const late = 'the server did not respond in time.';
const unreachable = 'the server cannot be reached.';

test.for<readonly [string, Parameters<typeof startVendor>[0]]>([
  ['never responds', () => undefined],
  [
    'sends interim responses',
    (request) => {
      const timer = setInterval(() => request.socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 5);
      request.socket.once('close', () => clearInterval(timer));
    },
  ],
])('VID-7 a server that %s times out after 10 seconds, its connection closed', async ([, play]) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const server = await clientThat(play);
  const problem = problemOf(server.named);
  await server.received(1);
  vi.advanceTimersByTime(9_999);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await problem).toBe(late);
  await once(server.sockets[0]!, 'close');
});

test.for([
  ['a protocol other than HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
  ['a closed connection', ''],
])('VID-7 a server that responds with %s cannot be reached', async ([, text]) => {
  const server = await clientThat((request) => request.socket.end(text!));
  expect(await problemOf(server.named)).toBe(unreachable);
  expect(server.requests).toHaveLength(1);
});

test('VID-7 a closed port, an unknown name and an internal name have the same message', async () => {
  expect(await problemOf(`http://client.example:${await closedPort()}/?query-canary`)).toBe(unreachable);
  for (const addresses of [[], ['10.0.0.1']]) {
    const send = createWebhookSender({ lookup: answering(addresses).lookup, now: () => NOW });
    expect(await send(deliveryTo('https://client.example/'))).toEqual({ status: undefined, problem: unreachable });
  }
});

test('VID-7 an internal address or another scheme gets no lookup and no connection', async () => {
  for (const [url, problem] of [
    ['http://[::ffff:7f00:1]/hook', 'the URL must be public.'],
    ['http://0x7f.1/hook', 'the URL must be public.'],
    ['ftp://a.example/hook', 'must be an http(s) URL.'],
    ['http://a.example:22/hook', 'the URL must use port 80, 443, 8080 or 8443.'],
  ] as const) {
    const names = answering(['8.8.8.8']);
    expect(webhookUrlProblem(url)).toBe(problem);
    const send = createWebhookSender({ lookup: names.lookup, now: () => NOW });
    expect(await send(deliveryTo(url))).toEqual({ status: undefined, problem });
    expect([names.asked, attempts]).toEqual([[], []]);
  }
});

test('VID-7 a name that changes its address after the check connects to the checked one', async () => {
  const server = await clientThat((_, response) => response.end());
  const names = answering(['127.0.0.1'], ['127.0.0.2']);
  const send = sender(names.lookup);
  await send(deliveryTo(server.named));
  expect((await send(deliveryTo(server.named))).problem).toBe(unreachable);
  expect([names.asked.length, attempts, server.requests.length]).toEqual([2, ['127.0.0.1'], 1]);
});

test('VID-7 the longest URL has 2048 characters', () => {
  const url = (length: number): string => `https://client.example/${'a'.repeat(length - 23)}`;
  expect(url(2_048)).toHaveLength(2_048);
  expect(webhookUrlProblem(url(2_048))).toBeUndefined();
  expect(webhookUrlProblem(url(2_049))).toBe('the URL is longer than 2048 characters. Send a shorter one.');
});

test.for(['https://localhost/x', 'http://localhost.:8080/', 'http://a.localhost/', 'https://intranet/x'])(
  'VID-7 %s is not a public server name and is rejected when the video is created',
  (url) => expect(webhookUrlProblem(url)).toBe('the URL must be public.'),
);
