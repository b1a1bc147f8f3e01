import { describe, expect, test } from 'vitest';
import { appScene } from './app-scene.ts';
import { chromiumPath } from './browser.ts';

describe.skipIf(chromiumPath === undefined)('problems of the mini app', () => {
  const scene = appScene();
  const { open } = scene;

  const countOf = (asked: string): number => scene.app.asked.filter((line) => line === asked).length;

  test('KEY-4 a page that was not opened from the bot shows only public data', async () => {
    await open({ url: `${scene.app.url}/app` }, async (page) => {
      await page.getByText('Open this page from the bot').waitFor();
      await page.getByText(/^\d+ models$/).waitFor();
      await page.getByRole('heading', { name: 'Quick start' }).waitFor();
      expect(scene.app.asked.filter((asked) => asked.includes('/app/api/'))).toEqual([]);
    });
  });

  test.each([
    { status: 401, code: 'invalid_signature', message: 'open it again from the bot' },
    { status: 404, code: 'not_found', message: 'Send /start to the bot' },
  ])(
    'KEY-4 a $status response for the account is reported once, not per section',
    async ({ status, code, message }) => {
      scene.app.refusals.set('/app/api/account', [{ status, code }]);
      await open({}, async (page) => {
        await page.getByText(message).waitFor();
        expect(await page.getByRole('alert').count()).toBe(1);
        expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Quick start', 'Prices']);
      });
    },
  );

  test('KEY-4 a brief rejection is retried', async () => {
    scene.app.refusals.set('/app/api/account', [{ status: 503, code: 'service_unavailable', retryAfterSeconds: 1 }]);
    scene.app.refusals.set('/app/api/spend', [{ status: 429, code: 'rate_limit_exceeded', retryAfterSeconds: 1 }]);
    await open({}, async (page) => {
      await page.locator('#balance .figure').waitFor();
      await page.locator('#spend figure').waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
      expect(countOf('GET /app/api/account')).toBe(2);
      expect(countOf('GET /app/api/spend?days=30')).toBe(2);
    });
  });

  test('KEY-4 after a rejection with a long wait, the user retries each section with a button', async () => {
    const lasting = { status: 503, code: 'service_unavailable', retryAfterSeconds: 30 };
    scene.app.refusals.set('/app/api/account', [lasting]);
    scene.app.refusals.set('/app/api/usage', [lasting]);
    await open({}, async (page) => {
      expect(await page.getByText('The service is not available now.').count()).toBe(2);
      await page.locator('#requests').getByRole('button', { name: 'Try again' }).click();
      await page.locator('.rows li').first().waitFor();
      await page.locator('#balance').getByRole('button', { name: 'Try again' }).click();
      await page.locator('#balance .figure').waitFor();
      expect(countOf('GET /app/api/account')).toBe(2);
    });
  });

  test('KEY-4 loaded data stays when the connection is lost', async () => {
    await open({}, async (page) => {
      await page.context().setOffline(true);
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByText('There is no connection.').first().waitFor();
      await page.getByText('$1,234.56').waitFor();
      await page.context().setOffline(false);
      await page.getByRole('button', { name: 'Refresh' }).click();
      await page.getByRole('alert').first().waitFor({ state: 'detached' });
    });
  });

  test('KEY-4 a new account has no data yet', async () => {
    Object.assign(scene.app.account, {
      balance_usd: '0',
      available_usd: '0',
      held_usd: '0',
      open_holds: 0,
      days_left: null,
    });
    scene.app.usage = [];
    scene.app.spend = (days) => ({
      ...{ complete: true, requests: 0, failed: 0, total_usd: '0', models: [] },
      days: Array.from({ length: days }, (_, index) => ({
        ...{ day: `2026-11-${String(index + 1).padStart(2, '0')}`, cost_usd: '0', requests: 0, failed: 0, models: [] },
      })),
    });
    await open({}, async (page) => {
      await page.getByText('$0.00').first().waitFor();
      await page.getByText('not known yet').waitFor();
      await page.getByText('Nothing was spent in this time.').first().waitFor();
      await page.getByText('No requests yet.').waitFor();
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    });
  });

  test('KEY-4 a blocked account and incomplete sums are shown', async () => {
    scene.app.account.status = 'blocked';
    const { spend } = scene.app;
    scene.app.spend = (days) => ({ ...spend(days), complete: false });
    await open({}, async (page) => {
      await page.getByText('This account is blocked. Requests are rejected.').waitFor();
      await page.getByText('Only the newest are included').waitFor();
    });
  });

  test('KEY-4 an unexpected response does not crash the page', async () => {
    scene.app.spend = () => ({ days: 'none' });
    await open({}, async (page) => {
      await page.locator('#spend').getByText('Something went wrong.').waitFor();
      await page.locator('#balance .figure').waitFor();
    });
  });
});
