import { describe, expect, test } from 'vitest';
import { appScene } from './app-scene.ts';
import { chromiumPath } from './browser.ts';

describe.skipIf(chromiumPath === undefined)('problems of the mini app', () => {
  const scene = appScene();
  const { open } = scene;

  const countOf = (asked: string): number => scene.app.asked.filter((line) => line === asked).length;

  test('KEY-4 a page that nobody opened from the bot shows what is everybody’s', async () => {
    await open({ url: `${scene.app.url}/app` }, async (page) => {
      await page.getByText('Open this page from the bot').waitFor();
      await page.getByText(/^\d+ models$/).waitFor();
      await page.getByRole('heading', { name: 'Quick start' }).waitFor();
      expect(scene.app.asked.filter((asked) => asked.includes('/app/api/'))).toEqual([]);
    });
  });

  test.each([
    { status: 401, code: 'invalid_signature', told: 'open it again from the bot' },
    { status: 404, code: 'not_found', told: 'Send /start to the bot' },
  ])('KEY-4 $status instead of the account is told once', async ({ status, code, told }) => {
    scene.app.refusals.set('/app/api/account', [{ status, code }]);
    await open({}, async (page) => {
      await page.getByText(told).waitFor();
      expect(await page.getByRole('alert').count()).toBe(1);
      expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual(['Quick start', 'Prices']);
    });
  });

  test('KEY-4 what is refused for a moment is asked for again', async () => {
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

  test('KEY-4 what is refused for longer is left to the user', async () => {
    const lasting = { status: 503, code: 'service_unavailable', retryAfterSeconds: 30 };
    scene.app.refusals.set('/app/api/account', [lasting]);
    scene.app.refusals.set('/app/api/usage', [lasting]);
    await open({}, async (page) => {
      expect(await page.getByText('The service cannot be reached at the moment.').count()).toBe(2);
      await page.locator('#requests').getByRole('button', { name: 'Try again' }).click();
      await page.locator('.rows li').first().waitFor();
      await page.locator('#balance').getByRole('button', { name: 'Try again' }).click();
      await page.locator('#balance .figure').waitFor();
      expect(countOf('GET /app/api/account')).toBe(2);
    });
  });

  test('KEY-4 what was read stays when the connection is gone', async () => {
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

  test('KEY-4 an account that is new has nothing to show yet', async () => {
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
      await page.getByText('no spend in the last 7 days').waitFor();
      await page.getByText('Nothing was spent in this time.').waitFor();
      await page.getByText('No requests yet.').waitFor();
      expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(0);
    });
  });

  test('KEY-4 a blocked account, and sums that are not complete, are told', async () => {
    scene.app.account.status = 'blocked';
    const { spend } = scene.app;
    scene.app.spend = (days) => ({ ...spend(days), complete: false });
    await open({}, async (page) => {
      await page.getByText('This account is blocked. Requests are refused.').waitFor();
      await page.getByText('only the newest are').waitFor();
    });
  });

  test('KEY-4 an answer of another shape is no crash', async () => {
    scene.app.spend = () => ({ days: 'none' });
    await open({}, async (page) => {
      await page.locator('#spend').getByText('Something went wrong.').waitFor();
      await page.locator('#balance .figure').waitFor();
    });
  });
});
