import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type MessengerUser, startMessenger } from '../../local/simulators/messenger/messenger.ts';
import { startSimulator } from '../../local/simulators/server.ts';
import { BOT_TOKEN, botHeaders, keysIn, toUpdate } from '../support/bot-updates.ts';
import { startGateway } from '../support/gateway.ts';
import { postChat, saying } from '../support/gateway-chat.ts';

const vendor = await startSimulator();
const messenger = await startMessenger({ botToken: BOT_TOKEN });
const gateway = await startGateway({
  vendorUrl: vendor.url,
  environment: {
    BOT_TOKEN,
    BOT_API_URL: messenger.url,
    START_CREDIT_USD: '0.75',
    TOP_UP_TEXT: 'https://pay.example/{account}',
  },
});
messenger.connect(`${gateway.url}/bot`);
afterAll(async () => {
  await messenger.stop();
  await gateway.stop();
  await vendor.stop();
});

/** Every test has its own user. */
let user: MessengerUser = { id: 900_000, firstName: 'Ada', language: 'en' };
let updates = 5_000;
beforeEach(() => {
  user = { ...user, id: user.id + 1, language: 'en' };
});

const told = (): string =>
  messenger
    .messages(user.id)
    .filter(({ from }) => from === 'bot')
    .map(({ text }) => text)
    .join('\n');

const keyTold = (): string => {
  const keys = keysIn(told());
  if (keys.length !== 1) throw new Error(`${keys.length} API keys in the messages`);
  return keys[0]!;
};

const deliver = async (text: string, updateId: number): Promise<number> => {
  const body = JSON.stringify(toUpdate({ updateId, text, userId: user.id }));
  const response = await fetch(`${gateway.url}/bot`, { method: 'POST', headers: botHeaders, body });
  await response.arrayBuffer();
  return response.status;
};

const works = async (apiKey: string): Promise<number> =>
  (await postChat({ ...gateway, apiKey }, { messages: saying('hello') })).status;

describe('first API key', () => {
  test('KEY-1 /start creates a working API key and the first balance', async () => {
    await messenger.say(user, '/start');
    const apiKey = keyTold();
    const account = await fetch(`${gateway.url}/api/account`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect(await account.json()).toMatchObject({ status: 'active', balance_usd: '0.75', available_usd: '0.75' });
    expect(await works(apiKey)).toBe(200);
  });

  test('KEY-1 the example request in the first message works', async () => {
    await messenger.say(user, '/start');
    const [example = ''] = /curl [\s\S]+?\}'$/m.exec(told()) ?? [];
    const [, url = ''] = /(http\S+)/.exec(example) ?? [];
    const headers = [...example.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    const [, body = ''] = /-d '([^']+)'/.exec(example) ?? [];
    const response = await fetch(url, { method: 'POST', headers: Object.fromEntries(headers), body });
    expect(await response.json()).toMatchObject({ object: 'chat.completion' });
  });

  test('KEY-1 three messages, each delivered three times, contain one API key', async () => {
    const ids = [1, 2, 3].map(() => ++updates);
    const untilTaken = async (updateId: number): Promise<void> => {
      while ((await deliver('/start', updateId)) !== 200);
    };
    await Promise.all([...ids, ...ids, ...ids].map(untilTaken));
    await Promise.all(ids.map(untilTaken));
    expect(await works(keyTold())).toBe(200);
    expect(messenger.messages(user.id)).toHaveLength(4);
  });
});

describe('commands', () => {
  const english = [
    ['/balance', /^Balance: 0\.75 USD\nAvailable: 0\.75 USD\nHeld: 0 USD for 0 requests/m],
    ['/usage', /^Today: 0 USD, 0 requests$/m],
    ['/key', /^Your API key: sk-service-\w{4}…\w{4}$/m],
    ['/models', /gpt-6\.2-sol/],
    ['/topup', /^Add money to your account:$/],
    ['/help', /^\/usage – spending and latest requests$/m],
  ] as const;
  const russian = [['/balance', /^Баланс: 0\.75 USD\nДоступно: 0\.75 USD\nУдержано: 0 USD/m]] as const;

  test.each([['en', english] as const, ['ru', russian] as const])(
    'KEY-1 each message is answered in %s',
    async (language, all) => {
      user = { ...user, language };
      await messenger.say(user, '/start');
      for (const [command, expected] of all) {
        await messenger.say(user, command);
        expect(messenger.messages(user.id).at(-1)?.text).toMatch(expected);
      }
    },
  );

  test('KEY-1 /usage shows the cost of a request', async () => {
    await messenger.say(user, '/start');
    const response = await postChat({ ...gateway, apiKey: keyTold() }, { messages: saying('hello') });
    await response.arrayBuffer();
    await messenger.say(user, '/usage');
    expect(told()).toContain(`Today: ${response.headers.get('x-service-cost-usd')} USD, 1 request\n`);
  });

  test('KEY-5 the button opens the app with init data that its API accepts', async () => {
    await messenger.say(user, '/start');
    const [url] = messenger.press(user, 'Open the app').split('#');
    expect(url).toBe(`${gateway.url}/app`);
    const authorization = `tma ${messenger.initData(user, gateway.now())}`;
    const account = await fetch(`${gateway.url}/app/api/account`, { headers: { authorization } });
    expect([account.status, await account.json()]).toMatchObject([200, { balance_usd: '0.75' }]);
  });
});

test('KEY-1 the log has no issued key and no text of a user', async () => {
  await messenger.say(user, '/start unique-text-of-a-user');
  await messenger.say(user, 'unique-text-of-a-user');
  const ownKey = gateway.apiKey;
  const kept = gateway.output().replaceAll(ownKey, '');
  expect(kept).toContain('/bot');
  expect(keysIn(kept)).toEqual([]);
  for (const secret of [keyTold().slice(20, 40), 'unique-text-of-a-user', BOT_TOKEN, BOT_TOKEN.split(':')[1]!]) {
    expect(kept).not.toContain(secret);
  }
});
