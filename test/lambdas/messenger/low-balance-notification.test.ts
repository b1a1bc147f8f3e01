import { afterEach, expect, test } from 'vitest';
import type { Notification } from '../../../lambdas/core/accounts/send-notifications.ts';
import { createNotificationSender } from '../../../lambdas/messenger/low-balance-notification.ts';
import { type BotApiAnswer, startBotApi } from '../../support/scripted-bot-api.ts';

const botToken = '123456:token-of-the-tests';
const notice: Notification = {
  chatId: '4711',
  language: 'en',
  balancePicos: 999_500_000_000n,
  thresholdPicos: 1_000_000_000_000n,
};

const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0)) await end();
});

const open = async (answer?: BotApiAnswer, publicUrl?: string, apiUrl?: string) => {
  const api = await startBotApi(() => answer);
  endings.push(api.stop);
  return { api, send: createNotificationSender({ access: { botToken, apiUrl: apiUrl ?? api.url }, publicUrl }) };
};

test('KEY-3 a notification names balance, threshold and how to top up, only to the chat', async () => {
  const { api, send } = await open();
  expect(await send(notice)).toEqual({ kind: 'sent' });
  expect(api.paths).toEqual([`/bot${botToken}/sendMessage`]);
  expect(String(api.taken[0]?.chat_id)).toBe('4711');
  expect(api.taken[0]?.text).toBe(
    '<b>Your balance is low</b>: 0.9995 USD\nI notify you when it falls to 1 USD. How to add money: /topup',
  );
});

test('KEY-3 a notification is in the language of the user, or in both if that is unknown', async () => {
  const { api, send } = await open();
  await send({ ...notice, language: 'ru' });
  await send({ ...notice, language: undefined });
  const [russian, both] = api.taken.map(({ text }) => text);
  expect(russian).toMatch(/^<b>Баланс подходит к концу<\/b>: 0\.9995 USD\n.*до 1 USD.*\/topup$/);
  expect(both).toMatch(/^<b>Your balance is low<\/b>: 0\.9995 USD\n/);
  expect(both?.endsWith(`\n\n${russian}`)).toBe(true);
});

test('KEY-3 a notification opens the mini app if the gateway has a public URL', async () => {
  const { api, send } = await open(undefined, 'https://gateway.example');
  await send({ ...notice, language: 'ru' });
  expect(api.taken[0]).toMatchObject({
    reply_markup: {
      inline_keyboard: [[{ text: 'Открыть приложение', web_app: { url: 'https://gateway.example/app' } }]],
    },
  });
  const without = await open();
  await without.send(notice);
  expect(without.api.taken[0]).not.toHaveProperty('reply_markup');
});

test.each<[string, BotApiAnswer, object]>([
  ['403', { status: 403, description: 'Forbidden: bot was blocked by the user' }, { kind: 'closed' }],
  ['429', { status: 429, description: 'Too Many Requests', retryAfter: 7 }, { kind: 'limited', retryAfterSeconds: 7 }],
  ['429 of no length', { status: 429, description: 'Too Many Requests' }, { kind: 'limited', retryAfterSeconds: 30 }],
  ['400', { status: 400, description: 'Bad Request: chat not found' }, { kind: 'refused' }],
  ['401', { status: 401, description: 'Unauthorized' }, { kind: 'failed' }],
  ['404', { status: 404, description: 'Not Found' }, { kind: 'failed' }],
  ['500', { status: 500, description: 'Internal Server Error' }, { kind: 'failed' }],
  ['502 of a proxy', { status: 502, html: '<html>Bad Gateway</html>' }, { kind: 'failed' }],
  ['no answer', 'no answer', { kind: 'failed' }],
])('KEY-3 %s has its own result and does not show the token', async (_, answer, expected) => {
  const { api, send } = await open(answer);
  const delivery = await send(notice);
  expect(delivery).toMatchObject(expected);
  expect(JSON.stringify(delivery)).not.toContain('token-of-the-tests');
  expect(api.paths).toHaveLength(1);
});
