import { afterAll, beforeAll, expect, test } from 'vitest';
import { updateSecretOf } from '../../lambdas/core/signature.ts';
import { type LocalMessenger, startMessenger } from '../../local/simulators/messenger/messenger.ts';
import { BOT_TOKEN } from '../support/bot-updates.ts';
import { runCli } from './cli-process.ts';

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

test('OPS-5 --dry-run prints the changes and makes none', async () => {
  const { status, stdout, stderr } = await setup(['--dry-run', '--json']);
  expect([status, JSON.parse(stdout)]).toMatchObject([0, { webhook: 'http://127.0.0.1:1/bot', changed: false }]);
  expect(`${stdout}${stderr}`).not.toContain(BOT_TOKEN.split(':')[1]);
  expect(await ask('getWebhookInfo')).toMatchObject({ url: '' });
});

test('OPS-5 the command sets webhook, commands and menu, and prints no token or secret', async () => {
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

test('OPS-5 a missing, malformed or unknown token fails, and is not printed', async () => {
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
