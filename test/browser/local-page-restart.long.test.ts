import { rmSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LocalState } from '../../local/page/ui/wire.ts';
import { type LocalProcess, spawnLocal, until, within } from '../support/gateway-process.ts';
import { unlimited } from '../support/in-process-gateway.ts';
import { newFolder } from '../support/program.ts';
import { chromiumPath, openBrowser } from './browser.ts';

describe.skipIf(chromiumPath === undefined)('the local page after a restart of the program', () => {
  const folder = newFolder();
  let program: LocalProcess;
  let url: string;
  let browser: Browser;
  let page: Page;
  let botKey: string;
  let botAccount: string;

  const start = async (): Promise<void> => {
    program = spawnLocal({ ...unlimited, DATA_DIR: folder });
    url = await until('the ready line', () => /^ready (http:\S+)$/m.exec(program.stdout())?.[1]);
  };
  const stop = async (): Promise<void> => {
    program?.kill('SIGTERM');
    await within('the end of the program', program.end);
  };
  const readState = async (): Promise<LocalState> => (await fetch(`${url}/local/state?language=en`)).json();
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const accountOf = (key: string): Promise<Response> =>
    fetch(`${url}/api/account`, { headers: { authorization: `Bearer ${key}` } });

  beforeAll(async () => {
    await start();
    await post('/local/say', { text: '/start', language: 'en' });
    botKey = await until('the key of /start', async () => (await readState()).messenger?.key);
    botAccount = (await (await accountOf(botKey)).json()).id;
    await stop();
    await start();
    browser = await openBrowser();
    page = await browser.newPage();
    await page.goto(`${url}/`, { waitUntil: 'load' });
    await page.locator('.key-state.works').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test('the ledger offers every account, and lists the movements of the chosen one only', async () => {
    const ledger = page.getByRole('region', { name: 'Ledger' });
    const account = ledger.getByLabel('Account');
    expect(await account.locator('option').allTextContents()).toEqual(['local', botAccount]);
    await account.selectOption(botAccount);
    await ledger.getByLabel('Top up by').fill('7.5');
    await ledger.getByRole('button', { name: 'Pay' }).click();
    const credit = ledger.locator('.row.credited').filter({ hasText: '+$7.5' });
    await credit.waitFor();
    await account.selectOption('local');
    await credit.waitFor({ state: 'detached' });
    await account.selectOption(botAccount);
    await credit.waitFor();
  });

  test("the list of requests has a client's requests, and not those of the page", async () => {
    const requests = page.getByRole('list', { name: 'Requests' });
    await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${botKey}` } });
    await requests.getByText('GET /v1/models').waitFor();
    const lines = await requests.locator('.path').allTextContents();
    expect(lines.filter((line) => /account|\/api\/models/.test(line))).toEqual([]);
  });

  test('KEY-2 the bot keeps its panel with the masked key, and Replace issues another', async () => {
    const panel = page.getByRole('region', { name: 'Key from the bot' });
    const masked = await panel.locator('code').textContent();
    expect(masked).toContain('…');
    expect(masked?.slice(-4)).toBe(botKey.slice(-4));
    await panel.getByRole('button', { name: 'Replace' }).click();
    await expect.poll(() => panel.locator('code').textContent()).not.toBe(masked);
    const key = (await panel.locator('code').textContent()) ?? '';
    expect([(await accountOf(botKey)).status, (await accountOf(key)).status]).toEqual([401, 200]);
  });
});
