import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatUsd, PICOS_PER_USD } from '../../lambdas/core/money/usd.ts';
import { type Simulator, startSimulator } from '../../local/simulators/server.ts';
import { LASTING_MODEL, postChat, pricesOf, readError, readEvents, saying } from '../support/gateway-chat.ts';
import type { TestProgram } from '../support/program.ts';
import { type GroupKey, type ServerGroup, startServerGroup } from '../support/server-group.ts';
import { customerOf, expectCharges, FUNDS_PICOS, untilSettled, VIDEO_COST, videoIn } from './videos/customer.ts';

const REVOCATIONS = 5;
const MINUTE_MS = 60_000;
const USED = { prompt_tokens: 60, completion_tokens: 40 };
const environment = { VIDEO_POLL_SECONDS: '1', VIDEO_POLL_SECONDS_MAX: '1', VIDEO_RETRY_SECONDS: '1' };

let vendor: Simulator;
let group: ServerGroup;
/** Requests arrive at the first server. The keys are changed at the second one. */
let serving: TestProgram;
let managing: TestProgram;
let accounts = 0;

beforeAll(async () => {
  vendor = await startSimulator();
  group = await startServerGroup();
  const start = () => group.start({ vendorUrl: vendor.url, environment });
  [serving, managing] = [await start(), await start()];
});
afterAll(async () => {
  await group?.stop();
  await vendor?.stop();
});

/** Opens an account with a key that manages, and a key with a cap. */
const openAccount = async () => {
  accounts += 1;
  const { accountId } = await group.openAccount(`revoked-${accounts}`, FUNDS_PICOS);
  const manager = await group.addKey(accountId, { name: 'Manager', manage: true });
  const key = await group.addKey(accountId, { name: 'Shop', limitPicos: 50n * PICOS_PER_USD, limitPeriod: 'day' });
  return { manager, key };
};

const manage = async ({ apiKey }: GroupKey, method: string, keyId: string, body?: object) => {
  const response = await fetch(`${managing.url}/api/keys/${keyId}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
};

const chat = ({ apiKey }: GroupKey, content = 'hello', more: object = {}) =>
  postChat({ ...serving, apiKey }, { messages: saying(content), max_tokens: 400, ...more });

const refusalOf = async (response: Response) => [response.status, (await readError(response)).code];

test('KEY-8 a key that one process revokes is 401 in another process from the next request on', async () => {
  const { manager } = await openAccount();
  for (let round = 0; round < REVOCATIONS; round += 1) {
    const key = await group.addKey(manager.accountId, { name: `Shop ${round}`, limitPicos: PICOS_PER_USD });
    const served = await chat(key);
    expect(served.status, await served.text()).toBe(200);
    expect((await manage(manager, 'DELETE', key.keyId)).status).toBe(200);
    const calls = vendor.requests.length;
    const refused = await chat(key);
    const { code, message } = await readError(refused);
    expect([refused.status, code]).toEqual([401, 'revoked_api_key']);
    expect(message).toBe('This API key was replaced or revoked. Use another key of the account.');
    expect(vendor.requests.length).toBe(calls);
  }
  await untilSettled(group, manager);
  expect((await group.audit(manager.accountId)).findings).toEqual([]);
});

test('KEY-9 a cap that one process lowers, raises or removes counts in another from the next request on', async () => {
  const { manager, key } = await openAccount();
  expect((await chat(key)).status).toBe(200);
  await untilSettled(group, key);
  const { body } = await manage(manager, 'GET', key.keyId);
  expect((await manage(manager, 'PATCH', key.keyId, { limit_usd: body.spent_usd })).status).toBe(200);
  expect(await refusalOf(await chat(key))).toEqual([402, 'key_limit_exceeded']);
  expect((await manage(manager, 'PATCH', key.keyId, { limit_usd: '5' })).body.spent_usd).toBe(body.spent_usd);
  expect((await chat(key)).status).toBe(200);
  const expiresAt = new Date(Date.now() + 5_000).toISOString();
  expect((await manage(manager, 'PATCH', key.keyId, { expires_at: expiresAt })).status).toBe(200);
  await new Promise((resolve) => setTimeout(resolve, 5_100));
  expect(await refusalOf(await chat(key))).toEqual([401, 'expired_api_key']);
  expect((await manage(manager, 'PATCH', key.keyId, { expires_at: null, limit_usd: null })).status).toBe(200);
  expect((await chat(key)).status).toBe(200);
});

test('KEY-8 the last use of a key is at most a minute late in another process', async () => {
  const { manager, key } = await openAccount();
  const { body: unused } = await manage(manager, 'GET', key.keyId);
  expect(unused.last_used_at).toBeNull();
  for (let round = 0; round < 3; round += 1) {
    const from = Date.now();
    expect((await chat(key)).status).toBe(200);
    const to = Date.now();
    const usedAt = Date.parse((await manage(manager, 'GET', key.keyId)).body.last_used_at);
    expect(usedAt).toBeGreaterThanOrEqual(from - MINUTE_MS);
    expect(usedAt).toBeLessThanOrEqual(to);
    // A rejected request also uses the key.
    const rejected = await chat(key, 'hello', { max_tokens: 0 });
    expect(rejected.status).toBe(400);
    const later = Date.parse((await manage(manager, 'GET', key.keyId)).body.last_used_at);
    expect(later).toBeGreaterThanOrEqual(usedAt);
  }
});

test('KEY-8 a stream whose key is revoked ends normally and is charged, and the next request is 401', async () => {
  const { manager, key } = await openAccount();
  const streamed = await chat(key, 'hello [[words 60]] [[pause 40]]', { stream: true });
  expect(streamed.status).toBe(200);
  const events: string[] = [];
  let revoked: Promise<unknown> | undefined;
  for await (const event of readEvents(streamed)) {
    events.push(event);
    revoked ??= manage(manager, 'DELETE', key.keyId);
    if (events.length === 20) {
      expect(await revoked).toMatchObject({ status: 200 });
      expect(await refusalOf(await chat(key))).toEqual([401, 'revoked_api_key']);
    }
  }
  expect(events.at(-1)).toBe('[DONE]');
  const { usage } = JSON.parse(events.at(-2) ?? '');
  const price = (await pricesOf(serving, LASTING_MODEL))(usage);
  expect(usage.cost_usd).toBe(formatUsd(price));
  const [record] = await expectCharges(group, key, [price]);
  expect(record?.keyId).toBe(key.keyId);
  const receipt = await fetch(`${managing.url}/api/usage/${record?.requestId}`, {
    headers: { authorization: `Bearer ${manager.apiKey}` },
  });
  expect(await receipt.json()).toMatchObject({ outcome: 'charged', cost_usd: formatUsd(price), key_id: key.keyId });
  expect((await group.store.readAccount(key.accountId))?.caps.size).toBe(0);
});

test('KEY-8 a plain request and a cap that is set again: the old hold ends and changes no new cap', async () => {
  const { manager, key } = await openAccount();
  vendor.next({ claimedUsage: { input: USED.prompt_tokens, output: USED.completion_tokens } });
  const gate = vendor.gate();
  const pending = chat(key);
  await gate.waitFor(1);
  await manage(manager, 'PATCH', key.keyId, { limit_usd: null });
  await manage(manager, 'PATCH', key.keyId, { limit_usd: '2', limit_period: 'day' });
  gate.open();
  expect((await pending).status).toBe(200);
  await expectCharges(group, key, [(await pricesOf(serving, LASTING_MODEL))(USED)]);
  const { body } = await manage(manager, 'GET', key.keyId);
  expect(body).toMatchObject({ limit_usd: '2', spent_usd: '0', held_usd: '0' });
});

test('KEY-8 a pending video of a revoked key is charged, and another key of the account reads it', async () => {
  const { manager, key } = await openAccount();
  const { id } = videoIn(await customerOf(key, serving.url).create('a hill [[takes 3000]]'));
  expect((await manage(manager, 'DELETE', key.keyId)).status).toBe(200);
  const refused = await customerOf(key, serving.url).send('GET', `/v1/videos/${id}`);
  expect([refused.status, refused.text.includes('revoked_api_key')]).toEqual([401, true]);
  const other = customerOf(manager, managing.url);
  expect(await other.untilEnded(id, MINUTE_MS)).toMatchObject({ status: 'completed', error: null });
  expect((await other.list()).map((video) => video.id)).toEqual([id]);
  expect((await other.send('GET', `/v1/videos/${id}/content`)).status).toBe(200);
  const [record] = await expectCharges(group, key, [VIDEO_COST]);
  expect(record?.keyId).toBe(key.keyId);
});
