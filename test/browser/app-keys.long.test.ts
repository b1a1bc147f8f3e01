import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { newKey } from './app-page.ts';
import { newListedKey } from './app-page-data.ts';
import { appScene } from './app-scene.ts';
import { chromiumPath } from './browser.ts';

const phone = { viewport: { width: 360, height: 740 } };

describe.skipIf(chromiumPath === undefined)('API keys in the mini app', () => {
  const scene = appScene();
  const open = (look: (page: Page) => Promise<void>): Promise<void> => scene.open({}, look);
  const itemOf = (page: Page, name: string) => page.locator('.keys > li').filter({ hasText: name });
  const textOf = async (page: Page, name: string): Promise<string> =>
    ((await itemOf(page, name).textContent()) ?? '').replace(/[\u00a0\u202f]/g, ' ');

  test('KEY-4 a key shows its mask, what is left of its cap, its last use and its restrictions', async () => {
    await open(async (page) => {
      const site = await textOf(page, 'Web site');
      for (const fact of [
        'sk-service-EfGh…stuv',
        '$20 left of $25 per month',
        'Cap resets 1 Dec 2026',
        'Never used',
        'Expires 31 Jan 2027',
        'Only gpt-5.4-mini, claude-haiku-4-5',
        'At most 2 requests per second',
      ]) {
        expect(site).toContain(fact);
      }
      const first = await textOf(page, 'First key');
      for (const fact of ['manages keys', 'Spent $3.25', 'Last used 22 Nov 2026']) expect(first).toContain(fact);
      expect(await itemOf(page, 'First key').getByRole('button').count()).toBe(1);
    });
  });

  test('KEY-4 a new key is shown once', async () => {
    await open(async (page) => {
      await page.getByRole('button', { name: 'Create a key' }).click();
      expect(await page.evaluate('document.activeElement.labels[0].textContent')).toBe('Name');
      await page.getByLabel('Name', { exact: true }).fill('Shop');
      await page.getByLabel('Cap (USD)').fill('12,5');
      await page.getByLabel('Cap period (UTC)').selectOption('day');
      await page.getByLabel('Models, separated by commas').fill('gpt-5.4, gpt-5.5-pro');
      await page.getByRole('button', { name: 'Save' }).first().click();
      await page.locator('#created-key').getByText(newKey).waitFor();
      expect(scene.app.posted).toEqual([
        { name: 'Shop', limit_usd: '12.5', limit_period: 'day', models: ['gpt-5.4', 'gpt-5.5-pro'] },
      ]);
      await itemOf(page, 'Shop').first().waitFor();
      await page.getByRole('button', { name: 'I have saved it' }).click();
      expect(await page.content()).not.toContain(newKey);
    });
  });

  test('KEY-4 an edit sends only what changed, with the version that the user has seen', async () => {
    await open(async (page) => {
      await page.getByRole('button', { name: 'Edit: Web site' }).click();
      await page.getByLabel('Cap (USD)').fill('');
      await page.getByRole('button', { name: 'Save' }).first().click();
      await page.getByText('Spent $3.50').waitFor();
      await page.getByRole('button', { name: 'Edit: First key' }).click();
      expect(await page.getByLabel('Cap (USD)').count()).toBe(0);
      await page.getByLabel('Can manage the keys').uncheck();
      await page.getByRole('button', { name: 'Save' }).first().click();
      await page.getByText('manages keys').waitFor({ state: 'detached' });
      expect(scene.app.changed).toEqual([
        ['PATCH', '"3"', { limit_usd: null }],
        ['PATCH', '"0"', { rights: [] }],
      ]);
    });
  });

  test('KEY-4 a key is revoked after a confirmation', async () => {
    await open(async (page) => {
      await page.getByRole('button', { name: 'Revoke: Web site' }).click();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(scene.app.changed).toEqual([]);
      await page.getByRole('button', { name: 'Revoke: Web site' }).click();
      await page.getByRole('dialog', { name: 'Revoke Web site?' }).getByRole('button', { name: 'Revoke' }).click();
      await itemOf(page, 'Web site').waitFor({ state: 'detached' });
      expect(scene.app.changed).toEqual([['DELETE', '"3"', {}]]);
    });
  });

  test('KEY-4 a rejected field keeps the form, its text and the reason', async () => {
    const path = '/app/api/keys/key-w';
    const message = 'limit_usd: must be at least 5, what this key has spent and holds.';
    scene.app.refusals.set(path, [{ status: 400, code: 'invalid_request_error', param: 'limit_usd', message }]);
    await open(async (page) => {
      await page.getByRole('button', { name: 'Edit: Web site' }).click();
      const cap = page.getByLabel('Cap (USD)');
      await cap.fill('many');
      await cap.press('Enter');
      await page.getByRole('alert').getByText('Enter an amount such as 25').waitFor();
      expect(scene.app.changed).toEqual([]);
      await cap.fill('2');
      await cap.press('Enter');
      await page.getByRole('alert').getByText('Cap (USD): must be at least 5').waitFor();
      expect([await cap.inputValue(), await cap.getAttribute('aria-invalid')]).toEqual(['2', 'true']);
    });
  });

  test.each([
    { status: 409, code: 'key_changed', message: 'This key was changed meanwhile' },
    { status: 404, code: 'not_found', message: 'This key no longer exists' },
    { status: 503, code: 'service_unavailable', message: 'It is unknown whether the change was made' },
  ])('KEY-4 after $status $code of an edit, the list is loaded again', async ({ status, code, message }) => {
    scene.app.refusals.set('/app/api/keys/key-w', [{ status, code }]);
    await open(async (page) => {
      scene.app.keys = [...scene.app.keys, newListedKey({ name: 'From another screen' })];
      await page.getByRole('button', { name: 'Edit: Web site' }).click();
      await page.getByLabel('Cap (USD)').fill('30');
      await page.getByRole('button', { name: 'Save' }).first().click();
      await page.locator('#keys').getByRole('alert').getByText(message).waitFor();
      await itemOf(page, 'From another screen').waitFor();
      expect(scene.app.asked.filter((asked) => asked.startsWith('PATCH'))).toHaveLength(1);
    });
  });

  test('KEY-4 the form explains init data that is too old, and keeps what was typed', async () => {
    scene.app.refusals.set('/app/api/keys', []);
    await open(async (page) => {
      scene.app.refusals.set('/app/api/keys', [{ status: 401, code: 'invalid_signature' }]);
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Shop');
      await page.getByRole('button', { name: 'Save' }).first().click();
      await page.getByRole('alert').getByText('opened in the last 10 minutes').waitFor();
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Shop');
    });
  });

  test('KEY-4 spend by key has the names of the keys and their models', async () => {
    await open(async (page) => {
      await page.getByText('Cost per API key').click();
      const rows = page.locator('.key-sums li');
      await rows.nth(3).waitFor();
      expect(await rows.allTextContents()).toEqual([
        'First key$3.25gpt-5.4 $3.25',
        'Web site$2claude-haiku-4-5 $1.75, gpt-5.4-mini $0.25',
        'former key 00ff00ff00ff00ff$0.50gpt-5.4 $0.50',
        'key not recorded$0.125gpt-5.4 $0.125',
      ]);
    });
  });

  test('KEY-4 a request opens to its receipt', async () => {
    await open(async (page) => {
      await page.locator('.rows summary').first().click();
      const receipt = page.locator('.receipt').first();
      const text = (await receipt.textContent()) ?? '';
      for (const fact of ['request-0', '/v1/chat/completions', 'Web site', 'openai', '412 ms', 'logit_bias, seed']) {
        expect(text).toContain(fact);
      }
      await receipt.getByRole('row', { name: 'input 1,034 × $0.0000025 $0.002585' }).waitFor();
      await receipt.getByRole('row', { name: 'Sum $0.00012345' }).waitFor();
    });
  });

  test('KEY-4 the account id and the link for topping up are shown', async () => {
    await open(async (page) => {
      const link = page.getByRole('link', { name: 'Top up' });
      expect(await link.getAttribute('href')).toBe('https://pay.test/?account=01K9ACCOUNT');
      expect(await page.locator('#account-id').textContent()).toBe('01K9ACCOUNT');
      scene.app.account.top_up_url = null;
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByText('send your account id to the operator').waitFor();
    });
  });

  test.each(['en', 'ru'])('KEY-4 the page of a phone is below 4,000 pixels in %s', async (language) => {
    await scene.open({ language, ...phone }, async (page) => {
      await itemOf(page, 'Web site').waitFor();
      expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(4_000);
      await page.locator('#prices .wide').click();
      await page.locator('.models > li').nth(50).waitFor();
    });
  });
});
