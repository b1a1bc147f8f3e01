import { afterAll, expect, test } from 'vitest';
import { message } from '../fixtures/anthropic/message.ts';
import { startGateway } from '../support/gateway.ts';
import { spentBy } from '../support/gateway-chat.ts';
import { within } from '../support/gateway-process.ts';
import { HAIKU, messagePrices, namesOf, postMessages } from '../support/messages-client.ts';
import { recorded, recordedEvents, startScriptedVendor, THEIR_MODEL } from './messages-vendor.ts';

const vendor = await startScriptedVendor();
const gateway = await startGateway({ vendorUrl: vendor.url });
const priceOf = await messagePrices(gateway, HAIKU);
afterAll(async () => {
  await gateway.stop();
  await vendor.stop();
});

/** Returns the stream that a client receives if the provider ends or cuts it after `text`, and its charge. */
const streamOf = (text: string, how: 'ended' | 'cut' = 'ended', headers: Readonly<Record<string, string>> = {}) => {
  vendor.next((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    if (how === 'ended') response.end(text);
    else response.write(text, () => response.destroy());
  });
  return spentBy(gateway, async () => {
    const response = await postMessages(gateway, { stream: true, system: 'Be brief. '.repeat(400) });
    return { headers: response.headers, text: await response.text() };
  });
};

test.each(recorded)(
  'MSG-1, BILL-9 the recorded stream %s is forwarded byte for byte except its model',
  async (name) => {
    const events = recordedEvents(name);
    const whole = await streamOf(events.join(''));
    expect(whole.result.text).toBe(events.join('').replace(THEIR_MODEL, HAIKU));
    expect(whole.spent).toBeGreaterThan(0n);
    const cut = await streamOf(events.slice(0, -1).join(''), 'cut');
    expect(cut.result.text.replaceAll(': ', ':')).toBe(whole.result.text.replaceAll(': ', ':'));
    expect(cut.spent).toBe(whole.spent);
  },
);

test('MSG-5, BILL-12 the last usage and the split of message_start are charged', async () => {
  const { spent } = await streamOf(recordedEvents('cache-usage.sse').join(''));
  expect(spent).toBe(
    7n * 1_000_000n + 1_000n * 100_000n + 1_110n * 1_250_000n + 3_110n * 2_000_000n + 21n * 5_000_000n,
  );
});

test('MSG-1 a recorded plain message is forwarded byte for byte except its model', async () => {
  const text = JSON.stringify(message, null, 3).replace('"citations": null', '"citations" : null, "later": 1.0e2');
  vendor.next((response) => response.writeHead(200, { 'content-type': 'application/json' }).end(text));
  const { result, spent } = await spentBy(gateway, async () => (await postMessages(gateway, {})).text());
  expect(result).toBe(text.replace(THEIR_MODEL, HAIKU));
  expect(spent).toBe(priceOf(message.usage));
});

test('BILL-9 an error instead of message_stop ends the stream, free of charge', async () => {
  const events = recordedEvents('basic.sse').slice(0, -1);
  const overloaded = recordedEvents('error-after-start.sse').at(-1) ?? '';
  const { result, spent } = await streamOf(events.join('') + overloaded);
  // The stop reason is also withheld until the charge.
  expect(namesOf(result.text)).toEqual([...namesOf(events.slice(0, -1).join('')), 'error']);
  expect(spent).toBe(0n);
});

test('GEN-4, ERR-5 no header of the provider reaches the client', async () => {
  const { result } = await streamOf(recordedEvents('basic.sse').join(''), 'ended', {
    'request-id': 'req_theirs',
    'anthropic-organization-id': 'our-organization',
    'anthropic-ratelimit-requests-remaining': '1',
    'set-cookie': 'a=b',
  });
  const told = [...result.headers].map((header) => header.join(': ')).join('\n');
  expect(told).not.toMatch(/anthropic|req_theirs|cookie/i);
});

test('MSG-1 a message_start without later events is sent, and later errors are events', async () => {
  const arrived = vendor.nextByHand();
  const pending = postMessages(gateway, { stream: true });
  const upstream = await arrived;
  upstream.write(recordedEvents('basic.sse')[0]);
  const response = await within('the status line', pending);
  expect(response.status).toBe(200);
  upstream.end(recordedEvents('error-after-start.sse').at(-1));
  expect(namesOf(await response.text())).toEqual(['message_start', 'error']);
});
