import { sign } from '@telegram-apps/init-data-node';
import { expect, test } from 'vitest';
import { INIT_DATA_READING_MS, INIT_DATA_ROTATION_MS } from '../../../lambdas/core/accounts/init-data.ts';
import { SIGNATURE_AGE_MS, signBody, updateSecretOf } from '../../../lambdas/core/signature.ts';
import { type BodySource, withUnreadBody } from '../../../lambdas/http/body-source.ts';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { type OtherCredential, type Route, routes } from '../../../lambdas/routes.ts';
import { fails, withCounterFaults } from '../../support/memory/faults.ts';
import { MemoryAddressCounters } from '../../support/memory/memory-address-counters.ts';
import { BOT_TOKEN, createChain, TOP_UP_KEY } from './chain.ts';
import { type Answer, functionUrlEvent, invoke, type Sent } from './function-url.ts';

const NOW_MS = Date.UTC(2026, 10, 1);
const NOW = NOW_MS / 1_000;

const SECRET_TOKEN = 'x-telegram-bot-api-secret-token';
const SIGNATURE = 'x-service-signature';
const initData = (token = BOT_TOKEN, atMs = NOW_MS, id = 4711): string =>
  sign({ user: { id, first_name: 'A' } }, token, new Date(atMs));
const tma = (text: string): Record<string, string> => ({ authorization: `tma ${text}` });

const BODY = Buffer.from('{"account": "ä"}');
/** Proof of each kind of caller, and a path that accepts it. */
const good = {
  bot: { method: 'POST', path: '/bot', headers: { [SECRET_TOKEN]: updateSecretOf(BOT_TOKEN) } },
  init_data: { method: 'POST', path: '/app/api/threshold', headers: tma(initData()) },
  signature: { method: 'POST', path: '/app/credits', headers: { [SIGNATURE]: signBody(TOP_UP_KEY, BODY, NOW) } },
} as const satisfies Record<OtherCredential, Sent>;
const kinds = ['bot', 'init_data', 'signature'] as const;

/** The middleware chain with unread bodies, and a counter of their reads. */
const opened = async (options: Parameters<typeof createChain>[0] = {}) => {
  const chain = await createChain(options);
  let reads = 0;
  const send = (sent: Sent, result: Awaited<ReturnType<BodySource['read']>> = BODY, declaredBytes?: number) => {
    const source: BodySource = {
      declaredBytes,
      read: async () => {
        reads += 1;
        return result;
      },
    };
    return invoke(chain.handler, withUnreadBody(functionUrlEvent(sent), source));
  };
  return { ...chain, send, reads: () => reads };
};

const codeOf = ({ status, text }: Answer): string => `${status} ${JSON.parse(text).error?.code}`;
const REFUSED = '401 invalid_signature';

test.each(kinds)('AUTH-6 %s: a caller with a valid proof is admitted, and no account is attached', async (kind) => {
  const { send, reads, handled, finished } = await opened();
  const answer = await send(good[kind]);
  expect([answer.status, reads()]).toEqual([200, 1]);
  expect(answer.headers).not.toHaveProperty('x-ratelimit-limit-requests');
  expect(handled[0]).toMatchObject({
    admission: undefined,
    initData: kind === 'init_data' ? { chatId: '4711', ageMs: 0 } : undefined,
    body: { json: { account: 'ä' } },
  });
  expect(finished[0]?.summary.accountId).toBeUndefined();
});

const secret = updateSecretOf(BOT_TOKEN);

test.each([
  ['none', undefined],
  ['another one', 'a'.repeat(64)],
  ['a part of it', secret.slice(0, 63)],
  ['more than it', `${secret}0`],
  ['it twice, as a host joins them', `${secret}, ${secret}`],
  ['the token itself', BOT_TOKEN],
  ['another bot’s', updateSecretOf('123457:token-of-the-tests')],
  ['characters of several bytes', 'ä'.repeat(32)],
])('AUTH-6, KEY-5 an update with %s as its secret token is rejected before its body is read', async (_what, value) => {
  const { send, reads, handled } = await opened();
  const answer = await send({ ...good.bot, headers: value === undefined ? {} : { [SECRET_TOKEN]: value } });
  expect([codeOf(answer), reads(), handled]).toEqual([REFUSED, 0, []]);
  expect(JSON.parse(answer.text).error).toMatchObject({
    type: 'authentication_error',
    param: 'X-Telegram-Bot-Api-Secret-Token',
  });
  expect(answer.text).not.toContain(secret);
});

test.each(kinds)('AUTH-6 %s: a caller is rejected if no secret is set', async (kind) => {
  const { send, reads, handled } = await opened({ secrets: { botToken: undefined, topUpKey: undefined } });
  const unset = ['', 'undefined', 'null'];
  const guesses: Sent[] = [
    good[kind],
    ...unset.map((guess) => ({ ...good.bot, headers: { [SECRET_TOKEN]: updateSecretOf(guess) } })),
    ...unset.map((guess) => ({ ...good.init_data, headers: tma(initData(guess)) })),
    ...unset.map((guess) => ({ ...good.signature, headers: { [SIGNATURE]: signBody(guess, BODY, NOW) } })),
  ];
  for (const guess of guesses) expect(codeOf(await send(guess))).toBe(REFUSED);
  expect([reads(), handled]).toEqual([0, []]);
});

test.each([
  ['tma {}', true],
  ['tma   {}  ', true],
  ['{}', false],
  ['Bearer {}', false],
  ['tma ', false],
  ['tma{}', false],
  ['tma {} {}', false],
  ['', false],
])('AUTH-6, KEY-5 "%s" as Authorization of the mini app is accepted: %s', async (form, taken) => {
  const { send, reads } = await opened();
  const authorization = form.replaceAll('{}', initData());
  const answer = await send({ ...good.init_data, headers: { authorization } });
  expect([codeOf(answer), reads()]).toEqual(taken ? ['200 undefined', 1] : [REFUSED, 0]);
  if (!taken) expect(JSON.parse(answer.text).error.param).toBe('Authorization');
});

test("KEY-5 the mini app is admitted for an hour by the gateway's clock", async () => {
  const { send, clock, reads } = await opened();
  clock.skip(INIT_DATA_READING_MS);
  expect((await send(good.init_data)).status).toBe(200);
  clock.skip(1);
  expect([codeOf(await send(good.init_data)), reads()]).toEqual([REFUSED, 1]);
});

test('KEY-5 a key can be replaced with init data up to ten minutes old, checked before the body', async () => {
  const { send, clock, reads } = await opened();
  const rotation = { ...good.init_data, path: '/app/api/key' };
  clock.skip(INIT_DATA_ROTATION_MS);
  expect((await send(rotation)).status).toBe(200);
  clock.skip(1);
  expect([codeOf(await send(rotation)), reads()]).toEqual([REFUSED, 1]);
  expect((await send(good.init_data)).status).toBe(200);
});

test('LIM-2, LIM-3 a chat has the limit of a key, and chats do not share it', async () => {
  const { send } = await opened({ keyBurst: 3 });
  for (let time = 0; time < 3; time += 1) expect((await send(good.init_data)).status).toBe(200);
  const answer = await send(good.init_data);
  expect([codeOf(answer), answer.headers['retry-after']]).toEqual(['429 rate_limit_exceeded', '1']);
  const other = { ...good.init_data, headers: tma(initData(BOT_TOKEN, NOW_MS, 4712)) };
  expect((await send(other)).status).toBe(200);
});

test('LIM-2, LIM-4 a chat is limited over all processes, and per process without a shared store', async () => {
  const chatCounters = new MemoryAddressCounters();
  const processes = await Promise.all([1, 2].map(() => opened({ keyBurst: 3, chatCounters })));
  const statuses = async (): Promise<readonly number[]> => {
    const answers = [];
    for (const { send } of [...processes, ...processes]) answers.push((await send(good.init_data)).status);
    return answers;
  };
  expect(await statuses()).toEqual([200, 200, 200, 429]);
  const alone = await Promise.all(
    [1, 2].map(() => opened({ keyBurst: 3, chatCounters: withCounterFaults(chatCounters, { take: fails }) })),
  );
  processes.splice(0, 2, ...alone);
  expect([await statuses(), await statuses()]).toEqual([
    [200, 200, 200, 200],
    [200, 200, 429, 429],
  ]);
});

test('AUTH-6 credentials are not interchangeable between the groups of routes', async () => {
  const { send, apiKey, reads } = await opened();
  const authorization = `Bearer ${apiKey}`;
  const every = { ...good.bot.headers, ...good.signature.headers, ...good.init_data.headers };
  for (const kind of kinds) {
    const others = kinds.filter((other) => other !== kind).map((other) => good[other].headers);
    const headers = Object.assign({ 'x-api-key': apiKey }, kind === 'init_data' ? { authorization } : {}, ...others);
    expect(codeOf(await send({ ...good[kind], headers }))).toBe(REFUSED);
  }
  expect(codeOf(await send({ path: '/api/account', headers: every }))).toBe('401 missing_api_key');
  expect(reads()).toBe(0);
});

test('AUTH-6 every route with its own credential rejects a caller without it before the body', async () => {
  const { send, reads, handled } = await opened();
  const own = Object.values<Route>(routes).filter(({ credential }) => kinds.some((kind) => kind === credential));
  expect(own.length).toBeGreaterThanOrEqual(7);
  for (const { method, path } of own) {
    expect([path, codeOf(await send({ method, path }))]).toEqual([path, REFUSED]);
  }
  expect([reads(), handled]).toEqual([0, []]);
});

const signedWith = (signature: string): Sent => ({ ...good.signature, headers: { [SIGNATURE]: signature } });

test('KEY-6 a malformed or expired signature is rejected before the body is read', async () => {
  const { send, clock, reads } = await opened();
  for (const signature of ['', 'x', `v1=${'0'.repeat(64)}`, signBody(TOP_UP_KEY, BODY, NOW - 301)]) {
    expect(codeOf(await send(signedWith(signature)))).toBe(REFUSED);
  }
  expect(reads()).toBe(0);
  clock.skip(SIGNATURE_AGE_MS);
  expect((await send(good.signature)).status).toBe(200);
  clock.skip(1);
  expect(codeOf(await send(good.signature))).toBe(REFUSED);
  expect(reads()).toBe(1);
});

test.each([
  ['JSON written otherwise', '{"account":"ä"}'],
  ['no JSON at all', 'account=a'],
  ['nothing', ''],
  ['bytes that are not text', Buffer.from([0xff, 0x00, 0x7b])],
])('KEY-6 a signature does not match %s, whatever else is wrong with the request', async (_what, body) => {
  const { send, handled } = await opened();
  const headers = { ...good.signature.headers, 'content-encoding': 'gzip', 'content-type': 'multipart/form-data' };
  expect(codeOf(await send({ ...good.signature, headers }, Buffer.from(body)))).toBe(REFUSED);
  expect(codeOf(await send(good.signature, Buffer.from(body)))).toBe(REFUSED);
  expect(handled).toEqual([]);
});

test('KEY-6 the signature covers the bytes as received, before they are parsed', async () => {
  const { send, handled } = await opened();
  const post = (body: string | Uint8Array, secretKey = TOP_UP_KEY) =>
    send(signedWith(signBody(secretKey, body, NOW)), Buffer.from(body));
  expect(codeOf(await post('{ "account" :"a" }\n'))).toBe('200 undefined');
  expect(codeOf(await post('account=a'))).toBe('400 invalid_request_error');
  expect(codeOf(await post(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])))).toBe('400 invalid_request_error');
  expect(codeOf(await post('account=a', 'another key'))).toBe(REFUSED);
  expect(codeOf(await post('{ "account" :"a" }', 'another key'))).toBe(REFUSED);
  expect(handled).toHaveLength(1);
});

test('KEY-6 the signature of a base64 body covers the decoded bytes, not the base64 text', async () => {
  const { handler, handled } = await opened();
  const send = (base64: boolean, headers: Record<string, string>) =>
    invoke(handler, functionUrlEvent({ ...good.signature, headers, body: BODY, base64 }));
  for (const base64 of [true, false]) expect((await send(base64, good.signature.headers)).status).toBe(200);
  const overText = signBody(TOP_UP_KEY, BODY.toString('base64'), NOW);
  expect(codeOf(await send(true, { [SIGNATURE]: overText }))).toBe(REFUSED);
  expect(handled).toHaveLength(2);
});

test.each(kinds)('AUTH-6, GEN-8 %s: the limit of the address is checked before the proof', async (kind) => {
  const { send, reads } = await opened({ addressBurst: 2 });
  expect(codeOf(await send({ ...good[kind], headers: {} }))).toBe(REFUSED);
  expect((await send(good[kind])).status).toBe(200);
  for (const headers of [good[kind].headers, {}]) {
    const answer = await send({ ...good[kind], headers });
    expect([codeOf(answer), answer.headers['retry-after']]).toEqual(['429 rate_limit_exceeded', '1']);
  }
  expect(reads()).toBe(1);
  expect((await send({ ...good[kind], sourceIp: '203.0.113.99' })).status).toBe(200);
});

test.each(kinds)('AUTH-6, GEN-1 %s: a body above the limit is 413 only with a proof', async (kind) => {
  const { send, reads } = await opened();
  expect(codeOf(await send({ ...good[kind], headers: {} }, 'too-long', BODY_BYTES_MAX + 1))).toBe(REFUSED);
  expect(codeOf(await send(good[kind], 'too-long', BODY_BYTES_MAX + 1))).toBe('413 payload_too_large');
  expect(reads()).toBe(0);
  // A wrong length header, or none.
  expect(codeOf(await send(good[kind], 'too-long', 2))).toBe('413 payload_too_large');
  expect(codeOf(await send(good[kind], 'incomplete'))).toBe('400 invalid_request_error');
});

test('AUTH-6 neither the response nor the log of a rejection has a sent proof or a secret', async () => {
  const { send, finished } = await opened();
  const stale = initData(BOT_TOKEN, NOW_MS - 2 * INIT_DATA_READING_MS);
  const canaries = [stale, secret.slice(1), signBody(TOP_UP_KEY, BODY, NOW - 1_000), BOT_TOKEN, TOP_UP_KEY];
  const texts = [
    (await send({ ...good.init_data, headers: tma(stale) })).text,
    (await send({ ...good.bot, headers: { [SECRET_TOKEN]: secret.slice(1) } })).text,
    (await send(signedWith(canaries[2] ?? ''))).text,
    JSON.stringify(finished),
  ].join('\n');
  for (const canary of canaries) expect(texts).not.toContain(canary);
});
