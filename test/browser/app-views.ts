import type { Page } from 'playwright-core';
import type { AppPage } from './app-page.ts';
import { newListedKey } from './app-page-data.ts';
import type { PageView } from './page-views.ts';

export interface AppView extends PageView<AppPage> {
  /** Whether the page is opened outside the messenger. */
  readonly isOpen?: boolean;
}

const lasting = { status: 503, code: 'service_unavailable', retryAfterSeconds: 30 };
const editSecondKey = (page: Page): Promise<void> =>
  page.locator('.keys > li').nth(1).getByRole('button').first().click();
const askToRotate = (page: Page): Promise<void> => page.locator('#key .danger').click();
const confirm = (page: Page): Promise<void> => page.locator('dialog .danger').click();
const openCreation = (page: Page): Promise<void> => page.locator('#keys > .wide').last().click();

const openSummaries = async (page: Page, within: string): Promise<void> => {
  for (const summary of await page.locator(`${within} summary`).all()) await summary.click();
};

const emptySpend = (days: number): object => ({
  ...{ complete: true, requests: 0, failed: 0, total_usd: '0', models: [] },
  days: Array.from({ length: days }, (_, index) => ({
    day: new Date(Date.UTC(2026, 10, 23 - days + index)).toISOString().slice(0, 10),
    ...{ cost_usd: '0', requests: 0, failed: 0, models: [] },
  })),
});

/** Every view and dialog of the mini app, for each language. The first one opens a part of each section. */
export const appViews: readonly AppView[] = [
  {
    name: 'all-sections',
    reach: async (page) => {
      await openSummaries(page, '#spend');
      await page.locator('.key-sums li').first().waitFor();
      await page.locator('.rows summary').first().click();
      await page.locator('#prices input').fill('gpt-5');
      await editSecondKey(page);
      await page.locator('.key-form input').first().fill('');
      await page.locator('.key-form [type=submit]').click();
      await page.locator('.key-form [role=alert]').waitFor();
      await page.locator('#threshold').fill('?');
      await page.locator('#threshold').press('Enter');
      await page.locator('#notice .wrong').waitFor();
    },
  },
  { name: 'overview', reach: async (page) => void (await page.locator('.keys > li').nth(1).waitFor()) },
  {
    name: 'receipts',
    reach: async (page) => {
      await page.locator('.rows summary').first().click();
      await page.locator('.rows summary').nth(2).click();
      await page.locator('.receipt table').first().waitFor();
    },
  },
  {
    name: 'spend',
    reach: async (page) => {
      await page.locator('#spend .choice input').last().check();
      await page.locator('#spend g').nth(89).waitFor();
      await openSummaries(page, '#spend');
      await page.locator('.key-sums li').first().waitFor();
    },
  },
  {
    name: 'many-keys',
    prepare: (app) => {
      const expired = { expires_at: '2026-11-01T12:00:00.000Z', limit_usd: '1', limit_period: 'total', spent_usd: '2' };
      app.keys.push(
        newListedKey({
          id: 'key-x',
          name: 'A name as long as the form allows, which is sixty-four letters',
          ...expired,
        }),
        newListedKey({ id: 'key-y', name: 'Another key', spent_usd: null, rights: ['manage'] }),
      );
    },
    reach: async (page) => {
      await page.locator('.keys ~ .wide').first().click();
      await page.locator('.keys > li').nth(3).waitFor();
    },
  },
  {
    name: 'new-key-form',
    reach: async (page) => {
      await openCreation(page);
      await page.locator('.key-form').waitFor();
    },
  },
  {
    name: 'created-key',
    reach: async (page) => {
      await openCreation(page);
      await page.locator('.key-form input').first().fill('Shop');
      await page.locator('.key-form [type=submit]').click();
      await page.locator('#created-key').waitFor();
    },
  },
  {
    name: 'revoke-confirm',
    reach: async (page) => {
      await page.locator('.keys .danger').first().click();
      await page.locator('dialog[open]').waitFor();
    },
  },
  {
    name: 'rotation-confirm',
    reach: async (page) => {
      await askToRotate(page);
      await page.locator('dialog[open]').waitFor();
    },
  },
  {
    name: 'rotated-key',
    reach: async (page) => {
      await askToRotate(page);
      await confirm(page);
      await page.locator('#new-key').waitFor();
    },
  },
  {
    name: 'rotation-refused',
    prepare: (app) => void app.refusals.set('/app/api/key', [{ status: 409, code: 'key_already_rotated' }]),
    reach: async (page) => {
      await askToRotate(page);
      await confirm(page);
      await page.locator('#key [role=alert]').waitFor();
    },
  },
  {
    name: 'prices-expanded',
    reach: async (page) => {
      await page.locator('#prices .wide').click();
      await page.locator('.models > li').nth(50).waitFor();
    },
  },
  {
    name: 'prices-none',
    reach: async (page) => {
      await page.locator('#prices input').fill('no such thing');
      await page.locator('.models > li').first().waitFor({ state: 'detached' });
    },
  },
  {
    name: 'empty-account',
    prepare: (app) => {
      const nothing = { balance_usd: '0', available_usd: '0', held_usd: '0', open_holds: 0, days_left: null };
      Object.assign(app.account, { ...nothing, key: null, top_up_url: null });
      Object.assign(app, { usage: [], keys: [], summary: [], spend: emptySpend });
    },
    reach: async (page) => {
      await page.locator('#spend .none').waitFor();
      await page.locator('#keys .none').waitFor();
    },
  },
  {
    name: 'blocked-account',
    prepare: (app) => {
      const { spend } = app;
      Object.assign(app.account, { status: 'blocked', key: { ...app.account.key, revoked: true } });
      app.spend = (days) => ({ ...spend(days), complete: false });
    },
    reach: async (page) => void (await page.locator('#balance [role=alert]').waitFor()),
  },
  {
    name: 'sections-refused',
    prepare: ({ refusals }) => {
      for (const path of ['account', 'usage', 'spend', 'keys']) refusals.set(`/app/api/${path}`, [lasting]);
    },
    reach: async (page) => void (await page.locator('#requests [role=alert]').waitFor()),
  },
  {
    name: 'loading',
    prepare: ({ gates }) => void gates.set('/app/api/usage/summary', new Promise(() => undefined)),
    reach: async (page) => {
      await page.locator('#spend summary').last().click();
      await page.locator('.loading').waitFor();
    },
  },
  {
    name: 'too-old',
    prepare: (app) => void app.refusals.set('/app/api/account', [{ status: 401, code: 'invalid_signature' }]),
    reach: async (page) => void (await page.locator('.notice').waitFor()),
  },
  { name: 'not-opened', isOpen: true, reach: async (page) => void (await page.locator('.notice').waitFor()) },
];
