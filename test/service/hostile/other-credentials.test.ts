import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signBody, updateSecretOf } from '../../../lambdas/core/signature.ts';
import { BODY_BYTES_MAX } from '../../../lambdas/limits.ts';
import { judge, readError } from '../../support/hostile-oracle.ts';
import { botToken, topUpKey } from '../../support/hostile-process.ts';
import { type Address, allForms, otherAddresses, withQuery } from '../../support/hostile-routes.ts';
import { ask } from '../../support/hostile-wire.ts';
import { frozenClock, type InProcessGateway, startInProcess } from '../../support/in-process-gateway.ts';

const CHAT = 4_711;
let gateway: InProcessGateway;
let apiKey: string;

beforeAll(async () => {
  const environment = { BOT_TOKEN: botToken, BOT_API_URL: 'http://127.0.0.1:9', TOP_UP_KEY: topUpKey };
  gateway = await startInProcess({ vendorUrl: undefined, environment, now: frozenClock });
  ({ apiKey } = await gateway.issue({ accountId: 'local', chatId: String(CHAT) }));
});
afterAll(() => gateway.stop());

/** Well-formed bodies. Their content can still be rejected. */
const bodies: Partial<Record<Address['name'], string>> = {
  takeUpdate: '{"update_id":1}',
  creditAccount: '{"account":"local","ref":"r-1","amount_usd":"1"}',
  setThreshold: '{"threshold_usd":"2"}',
  rotateKey: '{"key_id":"0000000000000000"}',
  createAppKey: '{"name":"A"}',
  editAppKey: '{"name":"A"}',
};
const bodyAt = ({ name }: Address): string => bodies[name] ?? '';

const seconds = (): number => Math.floor(frozenClock() / 1_000);

/** Signs init data as the messenger does. */
const initDataOf = (token: string, authDate: number): string => {
  const fields = { user: JSON.stringify({ id: CHAT, first_name: 'A' }), auth_date: String(authDate) };
  const text = Object.entries(fields).map(([name, value]) => `${name}=${value}`);
  const key = createHmac('sha256', 'WebAppData').update(token).digest();
  const hash = createHmac('sha256', key).update(text.sort().join('\n')).digest('hex');
  return new URLSearchParams({ ...fields, hash }).toString();
};

type Carry = (address: Address, age?: number) => readonly string[];

const genuine: Record<string, Carry> = {
  bot: () => [`x-telegram-bot-api-secret-token: ${updateSecretOf(botToken)}`],
  init_data: (_address, age = 0) => [`authorization: tma ${initDataOf(botToken, seconds() - age)}`],
  signature: (address, age = 0) => [`x-service-signature: ${signBody(topUpKey, bodyAt(address), seconds() - age)}`],
};
const carry = (address: Address, age?: number): readonly string[] => genuine[address.credential]?.(address, age) ?? [];

const send = (address: Address, headers: readonly string[], body: string = bodyAt(address), query = '') =>
  ask(gateway.port, { method: address.method, target: withQuery(address.target, query), headers, body });

const refused = async (reply: ReturnType<typeof send>): Promise<void> => {
  const answer = await reply;
  judge(answer);
  expect([answer.status, readError(answer).code]).toEqual([401, 'invalid_signature']);
};

test.each(otherAddresses)('AUTH-6 $method $target admits a caller with a valid credential', async (address) => {
  const reply = await send(address, carry(address));
  judge(reply);
  // The key id is unknown, and the update has no content.
  expect(reply.status).toBe(address.name === 'rotateKey' ? 409 : address.served);
});

test.each(otherAddresses)('AUTH-6 $method $target does not accept API keys in any place', async (address) => {
  for (const form of allForms) {
    const { headers, query } = form.carry(apiKey);
    await refused(send(address, headers, bodyAt(address), query));
  }
});

test.each(otherAddresses)(
  "AUTH-6 KEY-5 $method $target rejects a missing, invalid or other route's credential",
  async (address) => {
    const others = otherAddresses.filter(({ credential }) => credential !== address.credential);
    const wrong: readonly (readonly string[])[] = [
      [],
      ['authorization: tma'],
      ['authorization: tma hash=00'],
      ['x-service-signature: t=1,v1='],
      ['x-telegram-bot-api-secret-token: \xff'],
      [`authorization: tma ${initDataOf('123456:another-token', seconds())}`],
      [`x-telegram-bot-api-secret-token: ${botToken}`],
      [`x-telegram-bot-api-secret-token: ${updateSecretOf('1:x')}`],
      [`x-service-signature: ${signBody('another-unknown-key', bodyAt(address), seconds())}`],
      ...others.map((other) => carry(other)),
    ];
    for (const headers of wrong) await refused(send(address, headers));
  },
);

const timed = otherAddresses.filter(({ credential }) => credential !== 'bot');

test.each(timed)('KEY-5 KEY-6 $method $target rejects a stale or future credential', async (address) => {
  const limit = address.credential === 'signature' ? 300 : 3_600;
  for (const age of [limit + 5, 86_400 * 365, -(address.credential === 'signature' ? 305 : 60)]) {
    await refused(send(address, carry(address, age)));
  }
});

const posts = otherAddresses.filter(({ method }) => method === 'POST');

test.each(posts)('GEN-8 $target checks the credential before the body', async (address) => {
  const huge = `content-length: ${BODY_BYTES_MAX + 1}`;
  if (address.credential !== 'signature') {
    await refused(send(address, [], '{'));
    await refused(ask(gateway.port, { method: 'POST', target: address.target, headers: [huge] }));
  }
  const headers = (body: string): readonly string[] =>
    address.credential === 'signature'
      ? [`x-service-signature: ${signBody(topUpKey, body, seconds())}`]
      : carry(address);
  const tooLarge = await ask(gateway.port, { method: 'POST', target: address.target, headers: [...headers(''), huge] });
  expect([tooLarge.status, readError(tooLarge).code]).toEqual([413, 'payload_too_large']);
  for (const body of ['{', '[]', 'null', '', '\xff', `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`]) {
    const reply = await send(address, headers(body), body);
    judge(reply);
    expect(reply.status, body).toBe(400);
  }
  const packed = await send(address, [...headers(bodyAt(address)), 'content-encoding: deflate']);
  expect([packed.status, readError(packed).code]).toEqual([415, 'unsupported_media_type']);
});
