import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { chromiumPath } from './browser.ts';
import { askInPlayground } from './local-page-browser.ts';
import { useLocalPage } from './local-page-program.ts';

const root = join(import.meta.dirname, '../..');

describe.skipIf(chromiumPath === undefined)('the keys on the local page', () => {
  const program = useLocalPage();

  const copied = (page: Page): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
  const keyField = (page: Page) => page.getByLabel('API key', { exact: true });
  const pinned = (page: Page) => page.getByRole('region', { name: 'Key from the bot' });
  const say = async (page: Page, command: string): Promise<void> => {
    const bot = page.getByRole('region', { name: 'Bot', exact: true });
    await bot.getByRole('button', { name: command, exact: true }).last().click();
  };
  const statusWith = async (key: string | null): Promise<number> => {
    const response = await fetch(`${program.url()}/api/account`, { headers: { authorization: `Bearer ${key}` } });
    return response.status;
  };
  const runCli = (...args: readonly string[]): void => {
    const env = { PATH: process.env.PATH, DATA_DIR: program.folder };
    execFileSync(process.execPath, [join(root, 'bin/cli.ts'), ...args], { cwd: root, env, stdio: 'pipe' });
  };

  test('the base URL, the key and the client settings have a copy button each', async () => {
    const page = program.page();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy base URL' }).click();
    await page.getByRole('button', { name: 'Copy base URL: Copied' }).waitFor();
    expect(await copied(page)).toBe(`${program.url()}/v1`);
    await page.getByRole('button', { name: 'Copy API key' }).click();
    await expect.poll(() => copied(page)).toBe(await keyField(page).inputValue());
    await page.getByText('Client settings').click();
    await page.getByRole('button', { name: 'Copy client settings' }).click();
    const key = await keyField(page).inputValue();
    const lines = [
      `export GATEWAY_URL=${program.url()}`,
      `export GATEWAY_KEY=${key}`,
      `export OPENAI_BASE_URL=${program.url()}/v1`,
      `export OPENAI_API_KEY=${key}`,
      `export ANTHROPIC_BASE_URL=${program.url()}`,
      `export ANTHROPIC_AUTH_TOKEN=${key}`,
    ];
    await expect.poll(() => copied(page)).toBe(lines.join('\n'));
  });

  test('a copied curl command sends the request of the form', async () => {
    const page = program.page();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('tabpanel').locator('[name=prompt]').fill(`It's "quoted" $HOME`);
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    await page.getByRole('button', { name: 'Copy as curl: Copied' }).waitFor();
    const output = execFileSync('sh', ['-c', `${await copied(page)} -s`], { encoding: 'utf8' });
    const text = [...output.matchAll(/"content":"((?:[^"\\]|\\.)*)"/g)].map(([, part]) => JSON.parse(`"${part}"`));
    expect(text.join('')).toContain(`It's "quoted" $HOME`);
  });

  test('KEY-1 the key of /start stays in view after messages and a reload, outside of storage', async () => {
    const page = program.page();
    await say(page, '/start');
    await pinned(page).waitFor();
    const key = await pinned(page).locator('code').textContent();
    expect(await statusWith(key)).toBe(200);
    for (const command of ['/models', '/help', '/balance', '/usage', '/models']) await say(page, command);
    await page.locator('.message.bot').nth(6).waitFor();
    const isInView = (): Promise<boolean> =>
      pinned(page).evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight && bottom > top;
      });
    expect(await isInView()).toBe(true);
    await page.reload();
    expect(await pinned(page).locator('code').textContent()).toBe(key);
    expect(await isInView()).toBe(true);
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(stored).not.toContain('sk-service');
  });

  test('KEY-2 a replaced key of the bot is in view, works, and the old one is rejected', async () => {
    const page = program.page();
    await pinned(page).waitFor();
    const old = await pinned(page).locator('code').textContent();
    await pinned(page).getByRole('button', { name: 'Use in the playground' }).click();
    await pinned(page).getByRole('button', { name: 'Replace' }).click();
    await expect.poll(() => pinned(page).locator('code').textContent()).not.toBe(old);
    const key = await pinned(page).locator('code').textContent();
    expect([await statusWith(old), await statusWith(key)]).toEqual([401, 200]);
    // The page checks the new key before it uses it.
    await expect.poll(() => keyField(page).inputValue()).toBe(key);
    await page.reload();
    expect(await pinned(page).locator('code').textContent()).toBe(key);
  });

  test('KEY-2 a key that the mini app has replaced is shown as one that no longer works', async () => {
    const page = program.page();
    await pinned(page).waitFor();
    const state = await (await fetch(`${program.url()}/local/state?language=en`)).json();
    const headers = { authorization: `tma ${state.messenger.init_data}`, 'content-type': 'application/json' };
    const account = await (await fetch(`${program.url()}/app/api/account`, { headers })).json();
    const body = JSON.stringify({ key_id: account.key.id });
    expect((await fetch(`${program.url()}/app/api/key`, { method: 'POST', headers, body })).status).toBe(200);
    await pinned(page).getByText('no longer works').waitFor();
    await pinned(page).getByRole('button', { name: 'Replace' }).click();
    await pinned(page).getByText('no longer works').waitFor({ state: 'detached' });
    expect(await statusWith(await pinned(page).locator('code').textContent())).toBe(200);
  });

  test('the switch of a provider is on while it works, by keyboard too', async () => {
    const page = program.page();
    const works = page.getByRole('switch', { name: 'Google works', checked: true });
    const fails = page.getByRole('switch', { name: 'Google works', checked: false });
    const behavior = page.getByLabel('Behavior of Google');
    await works.focus();
    await page.keyboard.press('Space');
    await fails.waitFor();
    expect(await behavior.inputValue()).toBe('status 500');
    await behavior.selectOption('none');
    await works.waitFor();
    await behavior.selectOption('slow');
    await fails.waitFor();
    await fails.click();
    await works.waitFor();
    expect(await behavior.inputValue()).toBe('none');
  });

  test('OPS-6 a dead local key is not filled in, and the page shows how to get a new one', async () => {
    const page = program.page();
    const howTo = page.getByRole('note').filter({ hasText: 'npm run cli -- keys issue local' });
    const dead = await keyField(page).inputValue();
    const botKey = await pinned(page).locator('code').textContent();
    const botAccount = await fetch(`${program.url()}/api/account`, { headers: { authorization: `Bearer ${botKey}` } });
    runCli('keys', 'revoke', 'local', '--reason', 'test', '--yes');
    expect(await howTo.count()).toBe(0);
    await askInPlayground(page, 'Say hello');
    await howTo.waitFor();

    await page.reload();
    // The bot's key still works, so the page uses it.
    await expect.poll(() => keyField(page).inputValue()).toBe(botKey);
    expect(await page.content()).not.toContain(dead);
    runCli('keys', 'revoke', (await botAccount.json()).id, '--reason', 'test', '--yes');
    await page.reload();
    await howTo.waitFor();
    await pinned(page).getByText('no longer works').waitFor();
    expect(await keyField(page).inputValue()).toBe('');
    expect(await (await fetch(`${program.url()}/local/state?language=en`)).text()).not.toContain(dead);

    await page.getByRole('button', { name: 'Get a key from the bot' }).click();
    await page.locator('.key-state.works').waitFor();
    expect(await statusWith(await keyField(page).inputValue())).toBe(200);
    expect((await askInPlayground(page, 'Say hello')).get('State')).toBe('done');
  }, 120_000);
});
