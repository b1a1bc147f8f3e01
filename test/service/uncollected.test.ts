import { expect, test } from 'vitest';
import { formatUsd, parseUsd } from '../../lambdas/core/money/usd.ts';
import { sendTo } from '../support/circuit-hostile.ts';
import { postChat, saying } from '../support/gateway-chat.ts';
import {
  chat,
  embeddings,
  generateContent,
  images,
  messages,
  moderations,
  responses,
  speech,
  streamAsArray,
  streamAsEvents,
} from '../support/hostile-routes.ts';
import { type Lane, textLanes } from './hostile-lanes.ts';
import { silence } from './silence.ts';
import { hasty, startSimulated } from './simulated-gateway.ts';

const { vendor, gateway, another } = await startSimulated();
const impatient = await another(hasty);
const strict = await another({ UNCOLLECTED_DAILY_USD: '0' });

const streams = textLanes.filter(({ read }) => read);
const onChat = textLanes.filter(({ native }) => !native);
const LATER = { words: 40 };

/** Sends one request of a new account to its end, and returns what the ledger and the receipt have of it. */
const send = async (payer: typeof gateway, lane: Lane) => {
  const { accountId, apiKey } = await payer.issue();
  const response = await lane.send({ ...payer, apiKey });
  await response.text();
  const [record] = await payer.recordsOf(accountId);
  const account = await payer.ledger.readAccount(accountId);
  const receipt = await fetch(`${payer.url}/api/usage/${response.headers.get('x-request-id')}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  });
  const { cost_usd: cost, uncollected_usd: shown } = await receipt.json();
  return { status: response.status, record, account, cost, shown };
};

const expectCounted = ({ record, account, cost, shown }: Awaited<ReturnType<typeof send>>): void => {
  const picos = record?.uncollectedPicos ?? 0n;
  expect(record).toMatchObject({ outcome: 'released', amountPicos: 0n, usesAllowance: true });
  expect(picos).toBeGreaterThan(0n);
  expect(account?.uncollected).toEqual({ day: '2026-11-20', picos });
  expect([account?.spentPicos, account?.holds.size]).toEqual([0n, 0]);
  expect([cost, shown]).toEqual(['0', formatUsd(picos)]);
};

test('BILL-21, LIM-6 a deadline within a response costs the client nothing and uses the allowance', async () => {
  vendor.setScenario(() => ({ ...LATER, stallAfter: 12 }));
  const cut = await Promise.all(streams.map((lane) => send(impatient, lane)));
  for (const each of cut) {
    expect([each.status, each.record?.reason]).toEqual([200, 'upstream_timeout']);
    expectCounted(each);
  }
});

test('BILL-21, LIM-6 a first deadline without content is counted, and does not use the allowance', async () => {
  vendor.setScenario(() => ({ hang: true }));
  const silent = await Promise.all(textLanes.map(async (lane) => ({ lane, sent: await send(impatient, lane) })));
  for (const { lane, sent } of silent) {
    expect([sent.status, sent.record?.reason], lane.name).toEqual([504, 'upstream_timeout']);
    expect(sent.record, lane.name).toMatchObject({ outcome: 'released', silentDeadline: true });
    expect(sent.account?.uncollected, lane.name).toMatchObject({ freePicos: sent.account?.uncollected?.picos });
    expect(sent.shown, lane.name).not.toBeNull();
  }
});

test.each(onChat)(
  'BILL-21, CHAT-14 output to $name that is blocked without a charge uses the allowance',
  async (lane) => {
    vendor.next({ contentFilterAfter: lane.read ? 0 : 3 });
    const blocked = await send(gateway, lane);
    expect([blocked.status, blocked.record?.reason]).toEqual([400, 'content_filter']);
    expectCounted(blocked);
  },
);

test.each(streams)('BILL-21 a failure of the provider within a response to $name is only counted', async (lane) => {
  vendor.next({ ...LATER, cutAfter: 12 });
  const { record, account, shown } = await send(gateway, lane);
  expect(record).toMatchObject({ outcome: 'released', reason: 'upstream_error' });
  expect(record).not.toHaveProperty('usesAllowance');
  expect(record?.uncollectedPicos).toBeGreaterThan(0n);
  expect(shown).toBe(formatUsd(record!.uncollectedPicos!));
  expect(account?.uncollected).toBeUndefined();
});

test.each(textLanes)('BILL-21 a provider that rejects the request of $name costs nothing', async (lane) => {
  vendor.next({ refusal: { kind: 'status', status: 500 } });
  const { record, shown } = await send(gateway, lane);
  expect(record).toMatchObject({ outcome: 'released', reason: 'upstream_error' });
  expect(record).not.toHaveProperty('uncollectedPicos');
  expect(shown).toBeNull();
});

/** Sends speech or a transcription of a new account to its end. */
const sendAudio = async (request: 'speech' | 'transcriptions') => {
  const { accountId, apiKey } = await impatient.issue();
  const form = new FormData();
  form.set('model', 'gpt-transcribe');
  form.set('file', new File([Uint8Array.from(silence())], 'a.wav', { type: 'audio/wav' }));
  const response = await fetch(`${impatient.url}/v1/audio/${request}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, ...(request === 'speech' && { 'content-type': 'application/json' }) },
    body: request === 'speech' ? JSON.stringify({ model: 'tts-1', voice: 'nova', input: EVENING }) : form,
  });
  const isComplete = await response.arrayBuffer().then(
    () => true,
    () => false,
  );
  const [record] = await impatient.recordsOf(accountId);
  const account = await impatient.ledger.readAccount(accountId);
  return { status: response.status, isComplete, record, account };
};

const EVENING = 'A long evening. '.repeat(100);

test('BILL-21, AUD-3 speech that the deadline cuts is not charged and uses the allowance at its price', async () => {
  vendor.setScenario(() => ({ stallAfter: 2, pauseMs: 50 }));
  const { status, isComplete, record, account } = await sendAudio('speech');
  const picos = BigInt(EVENING.length) * (parseUsd('15') / 1_000_000n);
  expect([status, isComplete]).toEqual([200, false]);
  expect(record).toMatchObject({ reason: 'upstream_timeout', amountPicos: 0n, uncollectedPicos: picos });
  expect(record).toMatchObject({ usesAllowance: true });
  expect([account?.spentPicos, account?.uncollected?.picos]).toEqual([0n, picos]);
});

test('BILL-21 a first deadline of speech, transcripts and images is counted as silent', async () => {
  vendor.setScenario(() => ({ hang: true }));
  const { record: spoken } = await sendAudio('speech');
  expect(spoken).toMatchObject({ reason: 'upstream_timeout', silentDeadline: true });
  const { status, record, account } = await sendAudio('transcriptions');
  expect([status, record?.reason, record?.silentDeadline]).toEqual([504, 'upstream_timeout', true]);
  expect(account?.uncollected).toMatchObject({ freePicos: account?.uncollected?.picos });
  const { accountId, apiKey } = await impatient.issue();
  expect((await sendTo(impatient, images, apiKey)).outcome).toBe('504 upstream_timeout');
  expect(await impatient.recordsOf(accountId)).toMatchObject([{ silentDeadline: true }]);
});

const limitedRoutes = [chat, responses, messages, generateContent, streamAsEvents, streamAsArray, images, speech];

test('BILL-21 a used allowance rejects text, images and speech until the next day, and not inputs', async () => {
  const { accountId, apiKey } = await strict.issue();
  const [plainChat] = onChat;
  vendor.next({ contentFilterAfter: 3 });
  expect((await plainChat!.send({ ...strict, apiKey })).status).toBe(400);
  vendor.reset();
  for (const route of limitedRoutes) {
    const { outcome, reply } = await sendTo(strict, route, apiKey);
    expect([route.name, outcome, reply.headers.get('retry-after')]).toEqual([
      route.name,
      '429 rate_limit_exceeded',
      '300',
    ]);
    expect(reply.headers.get('x-should-retry')).toBe('false');
    expect(reply.body).toContain('used its daily allowance of 0 USD');
    expect(reply.body).toContain('2026-11-21T00:00:00Z');
  }
  expect(vendor.requests).toEqual([]);
  expect((await strict.ledger.readAccount(accountId))?.holds.size).toBe(0);
  for (const route of [embeddings, moderations]) {
    expect([route.name, (await sendTo(strict, route, apiKey)).outcome]).toEqual([route.name, '200']);
  }
  const dry = { headers: ['x-service-dry-run: true'] };
  expect((await sendTo(strict, chat, apiKey, dry)).outcome).toBe('200');
  expect((await sendTo(strict, chat, (await strict.issue()).apiKey)).outcome).toBe('200');
});

/** 20 requests at a time, and 200 in a day. */
const BURST = 20;
const BURSTS = 11;

test('BILL-21 a coding agent with large output limits meets no limit, though two bursts hang', async () => {
  const { accountId, apiKey } = await impatient.issue({ balanceUsd: '30' });
  const statuses: number[] = [];
  for (let burst = 0; burst < BURSTS; burst += 1) {
    // The provider fails in the first bursts: two hang as a whole, then it cuts a stream, and responds with an error.
    vendor.setScenario(() => (burst < 2 ? { hang: true } : {}));
    if (burst === 2) vendor.next({ ...LATER, cutAfter: 12 });
    if (burst === 3) vendor.next({ refusal: { kind: 'status', status: 500 } });
    const sent = Array.from({ length: BURST }, async () => {
      const body = { model: 'claude-sonnet-5', max_tokens: 64_000, stream: true, messages: saying('Write a test') };
      const response = await postChat({ ...impatient, apiKey }, body);
      await response.text();
      return response.status;
    });
    statuses.push(...(await Promise.all(sent)));
  }
  expect(statuses.filter((status) => status === 429 || status === 402)).toEqual([]);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(BURST * (BURSTS - 2) - 3);
  const account = await impatient.ledger.readAccount(accountId);
  expect(account?.uncollected).toMatchObject({ silentDeadlines: 2 });
  expect(account?.uncollected?.picos).toBe(account?.uncollected?.freePicos);
});
