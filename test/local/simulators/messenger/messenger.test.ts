import { createServer } from 'node:http';
import { validate } from '@telegram-apps/init-data-node';
import { Api, GrammyError, HttpError } from 'grammy/web';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readInitData } from '../../../../lambdas/core/accounts/init-data.ts';
import { updateSecretOf } from '../../../../lambdas/core/signature.ts';
import { type LocalMessenger, startMessenger } from '../../../../local/simulators/messenger/messenger.ts';

const TOKEN = '123456:token-of-the-tests';
const ada = { id: 7, firstName: 'Ада', language: 'ru' } as const;

let messenger: LocalMessenger;
let api: Api;
beforeEach(async () => {
  messenger = await startMessenger({ botToken: TOKEN, firstDelayMs: 1 });
  api = new Api(TOKEN, { apiRoot: messenger.url });
});
afterEach(() => messenger.stop());

test('KEY-5 the init data of the mini app has a valid signature for the bot token', () => {
  const opened = messenger.initData(ada);
  expect(() => validate(opened, TOKEN)).not.toThrow();
  expect(() => validate(opened, `${TOKEN}x`)).toThrow();
  expect(readInitData(TOKEN, opened, Date.now())).toMatchObject({ chatId: '7' });
  expect(readInitData(TOKEN, messenger.initData(ada, Date.now() - 7_200_000), Date.now())).toBeUndefined();
});

test('KEY-1 messages are stored by chat as the user reads them, with their buttons', async () => {
  const heard: unknown[] = [];
  const stop = messenger.onMessage((chatId, { text }) => heard.push([chatId, text]));
  const sent = await api.sendMessage(
    7,
    '<b>Key</b>: <code>a&lt;b&amp;c</code> <a href="https://x.example/?a&amp;b">x</a>',
    {
      parse_mode: 'HTML',
      reply_markup: {
        inline_keyboard: [
          [{ text: 'App', web_app: { url: 'http://127.0.0.1:1/app' } }],
          [{ text: 'Pay', url: 'https://p.example/' }],
        ],
      },
    },
  );
  stop();
  await api.sendMessage(8, '<plain>');
  expect(messenger.messages(7)).toEqual([
    {
      id: sent.message_id,
      from: 'bot',
      text: 'Key: a<b&c x',
      spans: [
        { kind: 'bold', offset: 0, length: 3 },
        { kind: 'code', offset: 5, length: 5 },
        { kind: 'link', offset: 11, length: 1, url: 'https://x.example/?a&b' },
      ],
      buttons: [
        [{ kind: 'app', text: 'App', url: 'http://127.0.0.1:1/app' }],
        [{ kind: 'link', text: 'Pay', url: 'https://p.example/' }],
      ],
    },
  ]);
  expect(messenger.messages(8)).toMatchObject([{ text: '<plain>', spans: [], buttons: [] }]);
  expect(heard).toEqual([[7, 'Key: a<b&c x']]);
  expect(messenger.press(ada, 'Pay')).toBe('https://p.example/');
  const [url, fragment] = messenger.press(ada, 'App').split('#');
  expect(url).toBe('http://127.0.0.1:1/app');
  expect(() => validate(new URLSearchParams(fragment).get('tgWebAppData') ?? '', TOKEN)).not.toThrow();
});

const refusals: readonly (readonly [string, (own: Api) => Promise<unknown>, number])[] = [
  ['no text', (own) => own.sendMessage(7, ' '), 400],
  ['too much text', (own) => own.sendMessage(7, 'x'.repeat(4_097)), 400],
  ['an unknown tag', (own) => own.sendMessage(7, '<h1>x</h1>', { parse_mode: 'HTML' }), 400],
  ['an unclosed tag', (own) => own.sendMessage(7, '<b>x', { parse_mode: 'HTML' }), 400],
  ['crossing tags', (own) => own.sendMessage(7, '<b><code>x</b></code>', { parse_mode: 'HTML' }), 400],
  ['an unescaped character', (own) => own.sendMessage(7, 'a & b', { parse_mode: 'HTML' }), 400],
  ['a command in capital letters', (own) => own.setMyCommands([{ command: 'Start', description: 'x' }]), 400],
  ['an unknown method', (own) => own.getUpdates(), 404],
];
test.each(refusals)('KEY-1 the Bot API rejects %s', async (_, call, status) => {
  const error = await call(api).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GrammyError);
  expect(error).toMatchObject({ error_code: status });
  expect(messenger.messages(7)).toEqual([]);
});

test('KEY-1 only the bot with this token can call the API', async () => {
  const error = await new Api(`${TOKEN}x`, { apiRoot: messenger.url }).getMe().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ error_code: 401, description: 'Unauthorized' });
  expect((await fetch(`${messenger.url}/getMe`)).status).toBe(404);
  expect(await api.getMe()).toMatchObject({ id: 123456, is_bot: true });
});

test('KEY-3 messages fail as often as the test sets', async () => {
  messenger.answer({ status: 429, retryAfter: 3 }, 2);
  messenger.answer({ status: 0, isTaken: true });
  for (let time = 0; time < 2; time += 1) {
    const error = await api.sendMessage(7, 'x').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ error_code: 429, parameters: { retry_after: 3 } });
  }
  await expect(api.sendMessage(7, 'cut')).rejects.toBeInstanceOf(HttpError);
  await api.sendMessage(7, 'taken');
  expect(messenger.messages(7).map(({ text }) => text)).toEqual(['cut', 'taken']);
});

/** Starts a bot that responds with the status of `statusOf`. */
async function startBot(statusOf: (update: { readonly update_id: number }, time: number) => number) {
  const heard: { readonly secret: unknown; readonly id: number; readonly text: string }[] = [];
  let open = 0;
  let openMost = 0;
  const server = createServer(async (request, response) => {
    open += 1;
    openMost = Math.max(openMost, open);
    let body = '';
    for await (const chunk of request) body += chunk;
    const update = JSON.parse(body);
    heard.push({
      secret: request.headers['x-telegram-bot-api-secret-token'],
      id: update.update_id,
      text: update.message.text,
    });
    await new Promise((resolve) => setImmediate(resolve));
    open -= 1;
    response.writeHead(statusOf(update, heard.filter(({ id }) => id === update.update_id).length)).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}/bot`,
    heard,
    openMost: () => openMost,
    stop: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  };
}

test('KEY-1 an update waits for the webhook, is retried until accepted, and blocks its chat', async () => {
  const bot = await startBot((_, time) => (time < 3 ? 503 : 200));
  try {
    const said = [messenger.say(ada, '/start'), messenger.say(ada, 'two')];
    expect(await api.getWebhookInfo()).toMatchObject({ url: '', pending_update_count: 2 });
    messenger.connect(bot.url);
    await Promise.all(said);
    expect(bot.heard.map(({ text }) => text)).toEqual(['/start', '/start', '/start', 'two', 'two', 'two']);
    expect(new Set(bot.heard.map(({ secret }) => secret))).toEqual(new Set([updateSecretOf(TOKEN)]));
    expect(bot.openMost()).toBe(1);
    const [first, , , second] = bot.heard;
    expect(second?.id).toBe((first?.id ?? 0) + 1);
    expect(await api.getWebhookInfo()).toMatchObject({ url: bot.url, pending_update_count: 0 });
  } finally {
    await bot.stop();
  }
});

test('KEY-1 an update is sent with the secret of its webhook', async () => {
  const bot = await startBot(() => 200);
  try {
    await api.setWebhook(bot.url, { secret_token: 'other-secret' });
    await messenger.say(ada, 'hello');
    expect(bot.heard).toMatchObject([{ secret: 'other-secret', text: 'hello' }]);
    await api.deleteWebhook();
    expect(await api.getWebhookInfo()).toMatchObject({ url: '' });
  } finally {
    await bot.stop();
  }
});

test('KEY-1 a stop of the messenger ends pending deliveries', async () => {
  const said = messenger.say(ada, 'no bot is connected');
  messenger.connect('http://127.0.0.1:1/bot');
  await messenger.stop();
  await said;
});
