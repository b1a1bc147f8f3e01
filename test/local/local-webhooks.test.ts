import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createLocalWebhooks } from '../../local/local-webhooks.ts';
import { answering, watchConnections } from '../lambdas/providers/connection-watch.ts';
import { startVendor, type VendorServer } from '../lambdas/providers/vendor-server.ts';

const OWN = 'http://127.0.0.1:8787';
const INBOX = `${OWN}/local/webhooks/inbox`;
const local = (allowsOtherPorts: boolean) => createLocalWebhooks({ url: OWN, allowsOtherPorts, now: Date.now });

const attempts = watchConnections();
const running: VendorServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

/** Server on a port of this machine that is not the one of the program. */
const receiver = async (
  play = (_request: IncomingMessage, response: ServerResponse): void => void response.writeHead(204).end(),
): Promise<VendorServer> => {
  const server = await startVendor(play);
  running.push(server);
  return server;
};

const deliveryTo = (url: string) => ({ url, id: 'evt_1', body: '{}', secrets: ['whsec_c2VjcmV0'], keySecret: 'k' });

const ownForms = [
  INBOX,
  'http://localhost:8787/local/webhooks/inbox',
  'http://[::1]:8787/local/webhooks/inbox',
  'HTTP://LocalHost:8787/local/webhooks/inbox?mine=1',
];

test.each(ownForms)('HOOK-4 the inbox of the program accepts webhooks with and without the switch: %s', (url) => {
  expect([local(false).checkWebhookUrl(url), local(true).checkWebhookUrl(url)]).toEqual([undefined, undefined]);
});

const otherPorts = [
  'http://127.0.0.1:3000/hook',
  'http://localhost:3000/hook?a=b#c',
  'http://localhost:3000',
  'http://[::1]:65535/',
  'http://127.0.0.1/',
  'HTTP://LOCALHOST:1/',
];

test.each(otherPorts)('HOOK-4 with the switch, other ports of this machine receive webhooks: %s', (url) => {
  expect(local(true).checkWebhookUrl(url)).toBeUndefined();
  expect(local(false).checkWebhookUrl(url)).toBe(
    `the URL is on this machine. Start the gateway with LOCAL_WEBHOOKS=on, or use ${INBOX}.`,
  );
});

test.each([
  `${OWN}/`,
  `${OWN}/app/credits`,
  `${OWN}/local/fault`,
  `${INBOX}/`,
  `${INBOX}/../../fault`,
  `${INBOX}/%2e%2e/answer`,
  'http://localhost:8787/local/webhooks/Inbox',
])('HOOK-4 the port of the program accepts webhooks at its inbox only, not at %s', (url) => {
  const problem = `this port accepts webhooks at one URL only. Use ${INBOX}.`;
  expect([local(false).checkWebhookUrl(url), local(true).checkWebhookUrl(url)]).toEqual([problem, problem]);
});

/** Other ways to this machine or its network. None is a literal loopback URL. */
const detours = [
  'http://127.1:3000/',
  'http://2130706433:3000/',
  'http://0x7f000001:3000/',
  'http://0177.0.0.1:3000/',
  'http://127.0.0.1.:3000/',
  'http://127.0.0.2:3000/',
  'http://0.0.0.0:3000/',
  'http://0:3000/',
  'http://[::]:3000/',
  'http://[::ffff:127.0.0.1]:3000/',
  'http://[::ffff:7f00:1]:3000/',
  'http://[0:0:0:0:0:0:0:1]:3000/',
  'http://user@127.0.0.1:3000/',
  'http://user:secret@localhost:3000/',
  'http://127.0.0.1:3000@example.com:22/',
  'http://127.0.0.1:3000\\@example.com:22/',
  'http://local\thost:3000/',
  'http://127.0.0.1:30\n00/',
  ' http://127.0.0.1:3000/',
  'https://127.0.0.1:3000/',
  'https://localhost/',
  'ftp://localhost:3000/',
  'http://a.localhost:8080/',
  'http://localhost.:8080/',
  'http://intranet:8080/',
  'http://10.0.0.1/',
  'http://192.168.0.1:8080/',
  'http://169.254.169.254/latest/meta-data/',
  'http://[fe80::1]/',
  'http://127.0.0.1:99999/',
  `http://127.0.0.1:3000/${'a'.repeat(2_048)}`,
  'localhost:3000',
];

test.each(detours)('HOOK-4 with the switch, %j is rejected and gets no delivery', async (url) => {
  const { checkWebhookUrl, sendWebhook } = local(true);
  expect(checkWebhookUrl(url)).toMatch(/\.$/);
  expect(await sendWebhook(deliveryTo(url))).toEqual({ status: undefined, problem: expect.any(String) });
  expect(attempts).toEqual([]);
});

test.each([
  'http://127.0.0.1.nip.io:8080/',
  'http://localtest.me/',
  'http://localhost.example.com/',
  'http://127.0.0.1.example.com:8080/',
])('HOOK-4 the switch leaves %s to the rules for public names', (url) => {
  const { checkWebhookUrl } = local(true);
  expect(checkWebhookUrl(url)).toBe(local(false).checkWebhookUrl(url));
  expect(checkWebhookUrl(url)).toBeUndefined();
  expect(checkWebhookUrl(url.replace(/(:8080)?\/$/, ':3000/'))).toBe('the URL must use port 80, 443, 8080 or 8443.');
});

test.each([['127.0.0.1'], ['::1'], ['127.0.0.1', '8.8.8.8'], ['10.0.0.1']])(
  'HOOK-4 with the switch, a name that resolves to %j gets no delivery',
  async (...addresses) => {
    const names = answering(addresses);
    const { sendWebhook } = createLocalWebhooks({
      url: OWN,
      allowsOtherPorts: true,
      now: Date.now,
      lookup: names.lookup,
    });
    expect((await sendWebhook(deliveryTo('http://127.0.0.1.nip.io:8080/'))).problem).toBe(
      'the server cannot be reached.',
    );
    expect([names.asked, attempts]).toEqual([['127.0.0.1.nip.io'], []]);
  },
);

test('HOOK-4 a form that the switch does not allow has a message with the allowed forms', () => {
  const problem =
    'this form of a URL on this machine is not allowed. Use http://127.0.0.1, http://localhost or http://[::1] with a port.';
  expect(local(true).checkWebhookUrl('https://localhost:3000/')).toBe(problem);
  expect(local(true).checkWebhookUrl('http://user@127.0.0.1:3000/')).toBe(problem);
  expect(local(true).checkWebhookUrl('http://10.0.0.1/')).toBe('the URL must be public.');
});

test('HOOK-4 with the switch, a receiver on this machine gets a delivery by address and by name', async () => {
  const server = await receiver();
  for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST']) {
    const url = `${server.url.replace('127.0.0.1', host)}/hook`;
    expect(await local(true).sendWebhook(deliveryTo(url))).toEqual({ status: 204, problem: undefined });
  }
  expect(server.requests.map(({ path }) => path)).toEqual(['/hook', '/hook', '/hook']);
});

test('HOOK-4 a webhook that an earlier start with the switch has stored is not sent without it', async () => {
  const server = await receiver();
  for (const host of ['127.0.0.1', 'localhost']) {
    const url = `${server.url.replace('127.0.0.1', host)}/hook`;
    expect((await local(false).sendWebhook(deliveryTo(url))).problem).toMatch(/^the URL must /);
  }
  expect(server.requests).toEqual([]);
});

test('HOOK-4 a redirect on this machine is not followed', async () => {
  const target = await receiver();
  const server = await receiver((_request, response) => void response.writeHead(307, { location: target.url }).end());
  expect(await local(true).sendWebhook(deliveryTo(server.url))).toEqual({
    status: 307,
    problem: 'the server returned 307.',
  });
  expect(target.requests).toEqual([]);
});
