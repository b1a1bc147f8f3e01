import type { Page } from 'playwright-core';
import { askInPlayground, openMode } from './local-page-browser.ts';
import type { PageView } from './page-views.ts';

/** Every panel and dialog of the local page, with what a user sees after the first steps. The first one has the most. */
export const localPageViews: readonly PageView<unknown>[] = [
  {
    name: 'used',
    reach: async (page) => {
      const bot = page.getByRole('region', { name: 'Bot' });
      const messages = await bot.locator('.message').count();
      for (const command of ['/start', '/models']) {
        await bot.getByRole('button', { name: command, exact: true }).last().click();
      }
      await bot
        .locator('.message')
        .nth(messages + 3)
        .waitFor();
      await askInPlayground(page, 'Say hello');
      await page.locator('.row.own.settled').waitFor();
      await page.getByText('System prompt').click();
    },
  },
  {
    name: 'failed',
    reach: async (page) => {
      const works = page.getByRole('switch', { name: 'OpenAI works' });
      await works.click();
      await works.and(page.locator('[aria-checked="false"]')).waitFor();
      await askInPlayground(page, 'Say hello');
      await page.locator('.row.own.released').waitFor();
      await page.getByLabel('Top up by').fill('nothing');
      await page.getByRole('button', { name: 'Pay' }).click();
      await page.getByRole('status').filter({ hasText: 'amount_usd' }).waitFor();
    },
  },
  {
    name: 'repaired',
    reach: async (page) => {
      await page.locator('.switch[aria-checked="false"]').click();
      await page.locator('.switch[aria-checked="false"]').waitFor({ state: 'detached' });
    },
  },
  ...['Responses', 'Images', 'Speech', 'Video'].map((mode) => ({
    name: mode.toLowerCase(),
    reach: async (page: Page): Promise<void> => {
      await openMode(page, mode);
      await askInPlayground(page, 'A boat');
    },
  })),
  {
    name: 'webhook-inbox',
    reach: async (page) => {
      const inbox = page.getByRole('region', { name: 'Webhook inbox' });
      await inbox.getByRole('button', { name: 'Send test event' }).click();
      await inbox.locator('.delivery summary .valid').first().waitFor();
      await inbox.locator('.delivery summary').first().click();
    },
  },
  {
    name: 'mini-app',
    reach: async (page) => {
      await page.getByRole('button', { name: 'Open mini app' }).click();
      await page.frameLocator('iframe[title="Mini app"]').locator('#balance .figure').waitFor();
    },
  },
];
