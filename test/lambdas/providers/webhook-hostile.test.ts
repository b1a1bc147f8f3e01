import { expect, test } from 'vitest';
import type { LookupAll } from '../../../lambdas/providers/guarded-address.ts';
import { createWebhookSender, webhookUrlProblem } from '../../../lambdas/providers/webhook.ts';
import { answering, watchConnections } from './connection-watch.ts';
import {
  disguises,
  inner,
  innerNames,
  inUrl,
  mixedAnswers,
  refusedUnasked,
  spellings,
  withSpaces,
} from './hostile-urls.ts';
import { closedPort, startVendor } from './vendor-server.ts';

const attempts = watchConnections();

const deliver = (lookup: LookupAll, url: string): Promise<void> =>
  createWebhookSender({ lookup, now: () => 0, timeoutMs: 300 })({ url, secret: 's', body: '{}' });

const unreachable = 'The webhook was not delivered: the server cannot be reached.';

test.for([
  ...inner.map(inUrl),
  ...spellings.map((host) => `https://${host}/hook`),
  ...disguises,
  ...withSpaces,
  'http:127.0.0.1',
  'http:/127.1',
])('VID-7 %j is no URL to deliver to, and nothing is', async (url) => {
  const names = answering([]);
  expect(webhookUrlProblem(url)).toBe('the URL must be public.');
  await expect(deliver(names.lookup, url)).rejects.toThrow('The webhook was not delivered: the URL must be public.');
  expect([names.asked, attempts]).toEqual([[], []]);
});

test.for(Object.entries(refusedUnasked).flatMap(([text, urls]) => urls.map((url) => ({ url, text }))))(
  'VID-7 $url: $text',
  async ({ url, text }) => {
    const names = answering([]);
    expect(webhookUrlProblem(url)).toBe(text);
    await expect(deliver(names.lookup, url)).rejects.toThrow(`The webhook was not delivered: ${text}`);
    expect([names.asked, attempts]).toEqual([[], []]);
  },
);

test.for([...inner.map((address) => [[address]]), ...mixedAnswers])(
  'VID-7 a name answered by %j is delivered nothing',
  async ([addresses]) => {
    const names = answering(addresses!);
    expect(webhookUrlProblem('https://a.example/')).toBeUndefined();
    await expect(deliver(names.lookup, 'https://a.example/')).rejects.toThrow(unreachable);
    expect([names.asked, attempts]).toEqual([['a.example'], []]);
  },
);

test.for(innerNames)('VID-7 the name %s is judged by its addresses', async (name) => {
  const url = `http://${name}/`;
  // Whatever was refused when the video was asked for is judged once more.
  const isName = URL.canParse(url);
  const names = answering(['127.0.0.1']);
  await expect(deliver(names.lookup, url)).rejects.toThrow(isName ? unreachable : 'this is no valid URL.');
  expect([names.asked.length, attempts]).toEqual([isName ? 1 : 0, []]);
});

test.for(['http://a.example', 'https://a.example:8443/a?b=c#d', 'HTTPS://8.8.8.8/', 'http://[2606:4700::1111]:8080/'])(
  'VID-7 %s may be delivered to',
  (url) => {
    expect(webhookUrlProblem(url)).toBeUndefined();
  },
);

test('VID-7 the counting of connections does count', async () => {
  const port = await closedPort();
  const open = createWebhookSender({
    lookup: answering(['127.0.0.1']).lookup,
    now: () => 0,
    reach: { address: () => true, port: () => true },
  });
  await expect(open({ url: `http://a.example:${port}/`, secret: 's', body: '{}' })).rejects.toThrow(unreachable);
  expect(attempts).toEqual(['127.0.0.1']);
});

test('VID-7 a name that changes its address after the check is connected to where it was checked', async () => {
  const server = await startVendor((_, response) => response.end());
  const names = answering(['127.0.0.1'], ['127.0.0.2']);
  const send = createWebhookSender({
    lookup: names.lookup,
    now: () => 0,
    reach: { address: (address) => address === '127.0.0.1', port: () => true },
  });
  const delivery = { url: server.url.replace('127.0.0.1', 'a.example'), secret: 's', body: '{}' };
  await send(delivery);
  await expect(send(delivery)).rejects.toThrow(unreachable);
  await server.stop();
  expect([names.asked, attempts, server.requests.length]).toEqual([['a.example', 'a.example'], ['127.0.0.1'], 1]);
});
