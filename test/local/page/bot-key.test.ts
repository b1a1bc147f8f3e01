import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, expect, test } from 'vitest';
import { labelOf, makeApiKey, toMasked } from '../../../lambdas/core/accounts/keys.ts';
import { createBotKey, keyIn } from '../../../local/page/bot-key.ts';
import type { ChatMessage } from '../../../local/page/ui/wire.ts';

const keys = [1, 2, 3].map((byte) => makeApiKey(new Uint8Array(32).fill(byte)));
const [first = '', second = '', third = ''] = keys;

const messageWith = (shown: string, kind: 'code' | 'bold' = 'code', from: 'bot' | 'user' = 'bot'): ChatMessage => ({
  id: 1,
  from,
  text: `Your key: ${shown}`,
  spans: [{ kind, offset: 10, length: shown.length }],
  buttons: [],
});

test.each([
  ['an API key as code', messageWith(first), first],
  ['a masked key', messageWith(toMasked(labelOf(first))), undefined],
  ['a key with a wrong checksum', messageWith(`${first.slice(0, -1)}_`), undefined],
  ['a key in bold', messageWith(first, 'bold'), undefined],
  ['a key from the user', messageWith(first, 'code', 'user'), undefined],
  ['a command', messageWith('curl http://127.0.0.1'), undefined],
])('KEY-1 in a message with %s the key is found or not', (_name, message, found) => {
  expect(keyIn(message)).toBe(found);
});

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

type Reply = readonly [status: number, body: unknown];

/** Serves the mini app's routes, and creates the key of a user with these past messages. */
async function open(past: readonly ChatMessage[], replies: Readonly<Record<string, Reply>>) {
  const asked: string[] = [];
  const reply = async (request: IncomingMessage): Promise<Reply> => {
    asked.push(`${request.url} ${request.headers.authorization} ${await text(request)}`);
    return replies[request.url ?? ''] ?? [404, {}];
  };
  const server = createServer((request, response) => {
    reply(request).then(([status, body]) => response.writeHead(status).end(JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(() => server.close());
  const said: string[] = [];
  const published: string[] = [];
  let send: (message: ChatMessage) => void = () => undefined;
  const messenger = {
    say: (command: string) => void said.push(command),
    messages: () => past,
    onMessage: (listener: typeof send) => {
      send = listener;
    },
    initData: () => 'signed',
  };
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const botKey = createBotKey(url, messenger, (apiKey) => published.push(apiKey));
  return { botKey, published, said, asked, send: (message: ChatMessage) => send(message) };
}

test('KEY-1 the latest key of the bot is kept and published, and later messages do not hide it', async () => {
  const { botKey, published, send } = await open([messageWith(first), messageWith(second), messageWith('none')], {});
  expect(botKey.present()).toBe(second);
  send(messageWith(third));
  send(messageWith(toMasked(labelOf(third))));
  expect([botKey.present(), published]).toEqual([third, [third]]);
});

test('KEY-2 a new key replaces the current one of the account through the mini app', async () => {
  const { botKey, published, said, asked } = await open([messageWith(first)], {
    '/app/api/account': [200, { key: { id: 'k1' } }],
    '/app/api/key': [200, { key: second }],
  });
  await botKey.issue();
  expect([botKey.present(), published, said]).toEqual([second, [second], []]);
  expect(asked).toEqual(['/app/api/account tma signed ', '/app/api/key tma signed {"key_id":"k1"}']);
});

test('KEY-1 a user without an account gets the key from the bot', async () => {
  const { botKey, published, said } = await open([], { '/app/api/account': [404, {}] });
  await botKey.issue();
  expect([botKey.present(), published, said]).toEqual([undefined, [], ['/start']]);
});

test.each([
  ['an account', [200, { key: { id: 'k1', masked: 'sk-service-AbCd…wxyz' } }], 'sk-service-AbCd…wxyz'],
  ['an account without a key', [200, { key: null }], undefined],
  ['no account', [404, {}], undefined],
] as const)('KEY-2 a restarted program reads the masked key of a user with %s', async (_name, account, masked) => {
  const { botKey } = await open([], { '/app/api/account': account });
  expect([botKey.present(), await botKey.masked()]).toEqual([undefined, masked]);
});

test('KEY-2 a rejected replacement keeps the key and passes on the message of the gateway', async () => {
  const error = { message: 'key_id: the key has been replaced.' };
  const { botKey } = await open([messageWith(first)], {
    '/app/api/account': [200, { key: { id: 'k1' } }],
    '/app/api/key': [409, { error }],
  });
  await expect(botKey.issue()).rejects.toMatchObject({ status: 409, message: error.message });
  expect(botKey.present()).toBe(first);
});
