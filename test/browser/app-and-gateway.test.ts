import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usdText } from '../../web/app/usd.ts';
import { type AppGateway, startAppGateway } from '../support/app-gateway.ts';
import { visit } from './app-page-visit.ts';
import { chromiumPath, openBrowser } from './browser.ts';
import { builtPages } from './built-pages.ts';

describe.skipIf(chromiumPath === undefined)('mini app of the real program', () => {
  let browser: Browser;
  let gateway: AppGateway;
  beforeAll(async () => {
    [browser, gateway] = await Promise.all([
      openBrowser(),
      startAppGateway({ pages: await builtPages(), now: Date.now }),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  test('KEY-4 KEY-2 the app shows requests of the key, replaces it and keeps the threshold', async () => {
    const owner = await gateway.openApp(1);
    await gateway.topUp({ account: owner.accountId, ref: 'first', amount_usd: '5' });
    const charged = await gateway.chat(owner.apiKey);
    await gateway.chat(owner.apiKey, 'hello [[status 500]]');
    const money = (amount: unknown): string => usdText(String(amount), { language: 'en' });
    const { url } = gateway.gateway;
    const opened = (): string => `${url}/app#${new URLSearchParams({ tgWebAppData: gateway.initData(1) })}`;

    await visit({ browser, app: { url, opened } }, {}, async (page) => {
      const { body } = await owner.get('/app/api/account');
      await page.locator('#balance').getByText(money(body.balance_usd)).first().waitFor();
      expect(await page.locator('.rows .cost').allTextContents()).toEqual([
        '$0',
        money(charged.headers.get('x-service-cost-usd')),
      ]);
      await page.getByText('Failed: 1, cost $0').first().waitFor();
      expect(await page.locator('#spend g').count()).toBe(30);
      await page.getByRole('button', { name: 'Show all prices' }).click();
      expect(await page.locator('.models > li').count()).toBeGreaterThan(50);

      await page.getByLabel('Notify me when the balance falls to').fill('2.5');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('Saved', { exact: true }).waitFor();
      expect((await owner.get('/app/api/account')).body.threshold_usd).toBe('2.5');

      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Name', { exact: true }).fill('Shop');
      await page.getByLabel('Cap (USD)').fill('1');
      await page.getByRole('button', { name: 'Save' }).first().click();
      const shopKey = (await page.locator('#created-key').textContent()) ?? '';
      const bought = await gateway.chat(shopKey);
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByText('Cost per API key').click();
      const cost = money(bought.headers.get('x-service-cost-usd'));
      await page.locator('.key-sums li').filter({ hasText: 'Shop' }).getByText(cost).first().waitFor();
      await page.getByRole('button', { name: 'Revoke: Shop' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
      await page.getByRole('button', { name: 'Revoke: Shop' }).waitFor({ state: 'detached' });
      expect((await gateway.withKey('/api/account', shopKey)).status).toBe(401);

      await page.getByRole('button', { name: 'Replace the key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
      const apiKey = (await page.locator('#new-key').textContent()) ?? '';
      expect((await gateway.withKey('/api/account', apiKey)).body.id).toBe(owner.accountId);
      expect((await gateway.withKey('/api/account', owner.apiKey)).status).toBe(401);
    });
  });

  test('KEY-5 init data too old for a rotation or for reading has its own message', async () => {
    await gateway.openApp(2);
    const { url } = gateway.gateway;
    const openedBefore = (seconds: number) => (): string =>
      `${url}/app#${new URLSearchParams({ tgWebAppData: gateway.initData(2, seconds) })}`;
    await visit({ browser, app: { url, opened: openedBefore(11 * 60) } }, {}, async (page) => {
      await page.getByRole('button', { name: 'Replace the key' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Replace' }).click();
      await page.getByText('the app must have been opened in the last 10 minutes').waitFor();
    });
    await visit({ browser, app: { url, opened: openedBefore(61 * 60) } }, {}, async (page) => {
      await page.getByText('This page was opened too long ago.').first().waitFor();
    });
  });
});
