import { DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { updateSecretOf } from '../../lambdas/core/webhooks/signature.ts';
import { localDynamodbConfig, localTableNames } from '../../lib/local/create-tables.ts';
import { freePort } from '../../lib/local/free-port.ts';
import { type LocalMessenger, type MessengerUser, startMessenger } from '../../lib/local/messenger/messenger.ts';
import { type Simulator, startSimulator } from '../../lib/local/upstreams/server.ts';
import { BOT_TOKEN, botHeaders, keysIn, toUpdate } from '../support/bot-updates.ts';
import { runCli } from '../support/cli-process.ts';
import { startTestDynamodb, type TestDynamodb } from '../support/dynamodb.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { postChat, saying } from '../support/gateway-chat.ts';

let vendor: Simulator;
let database: TestDynamodb;
let messenger: LocalMessenger;
let gateway: TestGateway;
let publicUrl: string;

beforeAll(async () => {
  vendor = await startSimulator();
  database = await startTestDynamodb();
  messenger = await startMessenger({ botToken: BOT_TOKEN });
  const port = await freePort();
  publicUrl = `http://127.0.0.1:${port}`;
  gateway = await startGateway({
    vendorUrl: vendor.url,
    environment: {
      DYNAMODB_ENDPOINT: database.endpoint,
      PORT: String(port),
      PUBLIC_URL: publicUrl,
      BOT_TOKEN,
      BOT_API_URL: messenger.url,
      START_CREDIT_USD: '0.75',
      TOP_UP_TEXT: 'https://pay.example/{account}',
    },
  });
  messenger.connect(`${publicUrl}/bot`);
});
afterAll(async () => {
  await messenger.stop();
  await gateway.stop();
  await database.stop();
  await vendor.stop();
});

/** Every test has a user of its own. */
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
  if (keys.length !== 1) throw new Error(`${keys.length} keys were told`);
  return keys[0]!;
};

const deliver = async (text: string, updateId: number): Promise<number> => {
  const body = JSON.stringify(toUpdate({ updateId, text, userId: user.id }));
  const response = await fetch(`${publicUrl}/bot`, { method: 'POST', headers: botHeaders, body });
  await response.arrayBuffer();
  return response.status;
};

const works = async (apiKey: string): Promise<number> =>
  (await postChat({ ...gateway, apiKey }, { messages: saying('hello') })).status;

describe('the first key', () => {
  test('KEY-1 /start gives a key that works, with the first balance', async () => {
    await messenger.say(user, '/start');
    const apiKey = keyTold();
    const account = await fetch(`${publicUrl}/api/account`, { headers: { authorization: `Bearer ${apiKey}` } });
    expect(await account.json()).toMatchObject({ status: 'active', balance_usd: '0.75', available_usd: '0.75' });
    expect(await works(apiKey)).toBe(200);
  });

  test('KEY-1 the command line that is told with it works as it stands', async () => {
    await messenger.say(user, '/start');
    const [line = ''] = /curl [\s\S]+?\}'$/m.exec(told()) ?? [];
    const { promisify } = await import('node:util');
    const { execFile } = await import('node:child_process');
    const { stdout } = await promisify(execFile)('sh', ['-c', `${line} --silent`]);
    expect(JSON.parse(stdout)).toMatchObject({ object: 'chat.completion' });
  });

  test('KEY-1 three messages and three deliveries of each, at once and again, tell one key', async () => {
    const ids = [1, 2, 3].map(() => ++updates);
    const untilTaken = async (updateId: number): Promise<void> => {
      while ((await deliver('/start', updateId)) !== 200);
    };
    await Promise.all([...ids, ...ids, ...ids].map(untilTaken));
    await Promise.all(ids.map(untilTaken));
    expect(await works(keyTold())).toBe(200);
    expect(messenger.messages(user.id)).toHaveLength(4);
  });

  test.each([[{ status: 429, retryAfter: 1 }], [{ status: 500 }], [{ status: 0 }]])(
    'KEY-1 the messenger fails with %o: the key comes with a later delivery',
    async (failure) => {
      messenger.answer(failure, 2);
      await messenger.say(user, '/start');
      expect(await works(keyTold())).toBe(200);
    },
  );

  test('KEY-1 the messenger took the message and did not say so: the last key works, the one before does not', async () => {
    messenger.answer({ status: 0, isTaken: true });
    await messenger.say(user, '/start');
    const [first = '', last = ''] = keysIn(told());
    expect([await works(first), await works(last)]).toEqual([401, 200]);
  });

  test('KEY-3 a user who blocks the bot is let in again when they write', async () => {
    await messenger.say(user, '/start');
    messenger.answer({ status: 403 });
    await messenger.say(user, '/balance');
    expect(told()).not.toContain('Balance');
    await messenger.say(user, '/balance');
    expect(told()).toContain('Balance: 0.75 USD');
  });
});

describe('commands', () => {
  const english = [
    ['/balance', /^Balance: 0\.75 USD\nAvailable: 0\.75 USD\nHeld: 0 USD for 0 requests/m],
    ['/usage', /^Today: 0 USD, 0 requests$/m],
    ['/key', /^Your key: sk-service-\w{4}…\w{4}$/m],
    ['/models', /gpt-6\.2-sol/],
    ['/topup', /^This is where you add money to your account:$/],
    ['/help', /^\/usage – what has been spent$/m],
  ] as const;
  const russian = [
    ['/balance', /^Баланс: 0\.75 USD\nДоступно: 0\.75 USD\nУдержано: 0 USD за 0 выполняемых запросов/m],
    ['/usage', /^Сегодня: 0 USD, 0 запросов$/m],
    ['/key', /^Ваш ключ: sk-service-\w{4}…\w{4}$/m],
    ['/models', /Изображения \(/],
    ['/topup', /^Здесь можно пополнить счёт:$/],
    ['/help', /^\/usage – сколько потрачено$/m],
  ] as const;

  test.each([['en', english] as const, ['ru', russian] as const])(
    'KEY-1 each is answered in %s',
    async (language, all) => {
      user = { ...user, language };
      await messenger.say(user, '/start');
      for (const [command, expected] of all) {
        await messenger.say(user, command);
        expect(messenger.messages(user.id).at(-1)?.text).toMatch(expected);
      }
    },
  );

  test('KEY-1 /usage tells what a request has cost', async () => {
    await messenger.say(user, '/start');
    const response = await postChat({ ...gateway, apiKey: keyTold() }, { messages: saying('hello') });
    await response.arrayBuffer();
    await messenger.say(user, '/usage');
    expect(told()).toContain(`Today: ${response.headers.get('x-service-cost-usd')} USD, 1 request\n`);
  });

  test('KEY-5 the button opens the app with what its API takes', async () => {
    await messenger.say(user, '/start');
    const [url, fragment] = messenger.press(user, 'Open the app').split('#');
    expect(url).toBe(`${publicUrl}/app`);
    const authorization = `tma ${new URLSearchParams(fragment).get('tgWebAppData')}`;
    const account = await fetch(`${publicUrl}/app/api/account`, { headers: { authorization } });
    expect([account.status, await account.json()]).toMatchObject([200, { balance_usd: '0.75' }]);
  });

  test('KEY-1 in a group there is no answer', async () => {
    const group = { id: -77, type: 'group', title: 'all' };
    const { message } = Object(toUpdate({ updateId: 1, text: '/start', userId: user.id }));
    const body = JSON.stringify({ update_id: ++updates, message: { ...message, chat: group } });
    const response = await fetch(`${publicUrl}/bot`, { method: 'POST', headers: botHeaders, body });
    expect(response.status).toBe(200);
    expect([messenger.messages(-77), messenger.messages(user.id)]).toEqual([[], []]);
  });
});

test('KEY-1 no key that was told is in a log or in a table, nor is what users wrote', async () => {
  await messenger.say(user, '/start tell-tale-of-a-user');
  await messenger.say(user, 'tell-tale-of-a-user');
  const client = new DynamoDBClient(localDynamodbConfig(database.endpoint));
  const scans = Object.values(localTableNames).map((TableName) => client.send(new ScanCommand({ TableName })));
  const stored = JSON.stringify((await Promise.all(scans)).map(({ Items }) => Items));
  client.destroy();
  expect(stored).toContain(`chat#${user.id}`);
  const ownKey = gateway.apiKey;
  const kept = `${stored}${gateway.output().replaceAll(ownKey, '')}`;
  expect(keysIn(kept)).toEqual([]);
  for (const secret of [keyTold().slice(20, 40), 'tell-tale-of-a-user', BOT_TOKEN, BOT_TOKEN.split(':')[1]!]) {
    expect(kept).not.toContain(secret);
  }
});

describe('cli bot setup', () => {
  const setup = (args: readonly string[], environment: Record<string, string> = {}) =>
    runCli(['bot', 'setup', '--url', 'http://127.0.0.1:1', ...args], {
      BOT_TOKEN,
      BOT_API_URL: own.url,
      ...environment,
    });
  let own: LocalMessenger;
  beforeAll(async () => {
    own = await startMessenger({ botToken: BOT_TOKEN });
  });
  afterAll(() => own.stop());

  const ask = async (method: string, body: object = {}): Promise<unknown> => {
    const response = await fetch(`${own.url}/bot${BOT_TOKEN}/${method}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return Object(await response.json()).result;
  };

  test('OPS-5 --dry-run says what would be done and does nothing', async () => {
    const { status, stdout, stderr } = await setup(['--dry-run', '--json']);
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { webhook: 'http://127.0.0.1:1/bot', changed: false }]);
    expect(`${stdout}${stderr}`).not.toContain(BOT_TOKEN.split(':')[1]);
    expect(await ask('getWebhookInfo')).toMatchObject({ url: '' });
  });

  test('OPS-5 sets webhook, commands and menu, and tells neither token nor secret', async () => {
    const { status, stdout, stderr } = await setup(['--yes', '--json']);
    expect([status, stderr]).toEqual([0, expect.stringContaining('webhook none')]);
    expect(JSON.parse(stdout)).toMatchObject({ app: 'http://127.0.0.1:1/app', changed: true, languages: ['en', 'ru'] });
    for (const secret of [BOT_TOKEN.split(':')[1], updateSecretOf(BOT_TOKEN)])
      expect(`${stdout}${stderr}`).not.toContain(secret);
    expect(await ask('getWebhookInfo')).toMatchObject({ url: 'http://127.0.0.1:1/bot' });
    expect(await ask('getMyCommands')).toContainEqual({ command: 'help', description: 'all commands' });
    expect(await ask('getMyCommands', { language_code: 'ru' })).toContainEqual({
      command: 'help',
      description: 'все команды',
    });
    expect(await ask('getChatMenuButton')).toMatchObject({ web_app: { url: 'http://127.0.0.1:1/app' } });
  });

  test('OPS-5 a token that is missing, malformed or not known ends it, and is not shown', async () => {
    const other = '123456:another-token';
    const [missing, malformed, unknown] = await Promise.all([
      setup(['--yes', '--token-variable', 'ELSEWHERE']),
      setup(['--yes', '--token-variable', 'ELSEWHERE'], { ELSEWHERE: 'another-token' }),
      setup(['--yes', '--token-variable', 'ELSEWHERE'], { ELSEWHERE: other }),
    ]);
    expect([missing, malformed, unknown].map(({ status }) => status)).toEqual([2, 2, 1]);
    expect(unknown.stderr).toContain('401 Unauthorized');
    expect([missing, malformed, unknown].map(({ stderr }) => stderr).join()).not.toContain('another-token');
  });
});
