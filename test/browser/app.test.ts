import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { untilDrawn } from './app-page-visit.ts';
import { appScene } from './app-scene.ts';
import { chromiumPath } from './browser.ts';

const words = {
  en: {
    balance: ['$1,234.567890123', '$1,230.067890123', '$4.50', '2 open holds', '12.3 days'],
    failed: 'Failed: 2, cost $0',
    spent: 'Failed: 4, cost $0',
    sections: [
      'Balance',
      'Spend',
      'Last requests',
      'API key',
      'All API keys',
      'Low balance notification',
      'Quick start',
      'Prices',
    ],
    chart: /Spend per day/,
    price: 'input$2.50',
    perTokens: 'per 1M tokens',
    example: '1920x1080, 12 s$4.539612',
    search: 'Search models',
    rotate: 'Replace the key',
    confirm: 'Replace the key?',
    copy: 'Copy',
    guide: 'Set up other clients and SDKs',
  },
  ru: {
    balance: ['1 234,567890123 $', '1 230,067890123 $', '4,50 $', '2 открытых удержания', 'на 12,3 дня'],
    failed: 'Неудачных: 2, стоимость 0 $',
    spent: 'Неудачных: 4, стоимость 0 $',
    sections: [
      'Баланс',
      'Расходы',
      'Последние запросы',
      'API-ключ',
      'Все API-ключи',
      'Уведомление о низком балансе',
      'Быстрый старт',
      'Цены',
    ],
    chart: /Расходы по дням/,
    price: 'вход2,50 $',
    perTokens: 'за 1 млн токенов',
    example: '1920x1080, 12 с4,539612 $',
    search: 'Поиск моделей',
    rotate: 'Заменить ключ',
    confirm: 'Заменить ключ?',
    copy: 'Копировать',
    guide: 'Настройка других клиентов и SDK',
  },
} as const;

describe.skipIf(chromiumPath === undefined)('mini app', () => {
  const scene = appScene();
  const { open } = scene;

  /** Returns the text of an element, with ordinary spaces instead of non-breaking ones. */
  const textOf = async (page: Page, id: string): Promise<string> =>
    ((await page.locator(`#${id}`).textContent()) ?? '').replace(/[\u00a0\u202f]/g, ' ');

  test.each(['en', 'ru'] as const)('KEY-4 every element exists in %s', async (language) => {
    const said = words[language];
    await open({ language }, async (page) => {
      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      for (const title of said.sections) {
        await page.getByRole('heading', { level: 2, name: title, exact: true }).waitFor();
      }
      const balance = await textOf(page, 'balance');
      for (const figure of said.balance) expect(balance).toContain(figure);
      await page.getByRole('img', { name: said.chart }).waitFor();
      expect(await page.locator('#spend g').count()).toBe(30);
      expect(await page.locator('#spend .legend li').count()).toBe(6);
      expect(await textOf(page, 'spend')).toContain(said.spent);
      const requests = await textOf(page, 'requests');
      expect(requests).toContain(said.failed);
      expect(requests).toContain(language === 'en' ? '$0.00012345' : '0,00012345 $');
      await page.getByLabel(said.search).fill('gpt-5.4');
      const found = page.locator('.models > li').filter({ has: page.getByText('gpt-5.4', { exact: true }) });
      const prices = ((await found.textContent()) ?? '').replaceAll('\u00a0', ' ');
      expect(prices).toContain(said.perTokens);
      expect(prices).toContain(said.price);
      await page.getByLabel(said.search).fill('seedance-2-0');
      const clips = page.locator('.models > li').filter({ has: page.getByText('seedance-2-0', { exact: true }) });
      expect(((await clips.textContent()) ?? '').replaceAll('\u00a0', ' ')).toContain(said.example);
      expect(await textOf(page, 'quickstart')).toContain(`export GATEWAY_URL=${scene.app.url} GATEWAY_KEY=`);
      expect(await textOf(page, 'key')).toContain('sk-service-AbCd…wxyz');
      const guide = page.locator('#quickstart').getByRole('link', { name: said.guide });
      expect(await guide.getAttribute('href')).toBe('/api-reference/clients');
      await page.locator('#quickstart').getByRole('button', { name: said.copy }).waitFor();
      await page.getByRole('button', { name: said.rotate }).click();
      await page.getByRole('dialog', { name: said.confirm }).waitFor();
    });
  });

  test('KEY-4 the language is the messenger’s until the user chooses one, which a reload keeps', async () => {
    await open({ language: 'de' }, async (page) => {
      expect(new URL(page.url()).hash).toBe('');
      await page.getByRole('heading', { name: 'Balance', exact: true }).waitFor();
      await page.getByRole('radio', { name: 'RU' }).check();
      await page.getByRole('heading', { name: 'Баланс', exact: true }).waitFor();
      await page.reload({ waitUntil: 'networkidle' });
      await untilDrawn(page);
      expect(await textOf(page, 'balance')).toContain('1 234,567890123 $');
      expect(await page.evaluate('localStorage.length')).toBe(0);
    });
  });

  test('KEY-4 data from the messenger’s script takes precedence over the URL', async () => {
    const initData = new URLSearchParams(new URL(scene.app.opened('ru')).hash.slice(1)).get('tgWebAppData');
    const context = await scene.browser.newContext();
    try {
      const page = await context.newPage();
      await page.addInitScript(`window.Telegram = ${JSON.stringify({ WebApp: { initData } })}`);
      await page.goto(`${scene.app.url}/app#tgWebAppData=nobody`, { waitUntil: 'networkidle' });
      await page.getByRole('heading', { name: 'Баланс', exact: true }).waitFor();
    } finally {
      await context.close();
    }
  });

  test('KEY-4 another range of days is loaded and drawn', async () => {
    await open({}, async (page) => {
      await page.getByRole('radio', { name: '7 days' }).check();
      await page.locator('#spend g').nth(7).waitFor({ state: 'detached' });
      expect(await page.locator('#spend g').count()).toBe(7);
      expect(scene.app.asked).toContain('GET /app/api/spend?days=7');
      await page.getByText('As a table').click();
      expect(await page.locator('#spend').getByRole('table').getByRole('row').count()).toBeGreaterThan(2);
    });
  });

  test('KEY-4 requests are loaded page by page, and failed ones are marked and cost nothing', async () => {
    await open({}, async (page) => {
      const more = page.getByRole('button', { name: 'Show more' });
      const { promise, resolve: pass } = Promise.withResolvers<void>();
      scene.app.gates.set('/app/api/usage', promise);
      await more.dblclick();
      await page.locator('#requests').getByRole('button', { name: 'Loading' }).click({ force: true });
      pass();
      await page.getByText('Failed: 3, cost $0').waitFor();
      expect(scene.app.asked.filter((asked) => asked.includes('cursor=10'))).toHaveLength(1);
      await more.click();
      // The button reads "Loading" while a page loads, and disappears after the last page.
      await page.locator('.rows > li').nth(24).waitFor();
      await page.locator('#requests').getByRole('button').waitFor({ state: 'detached' });
      expect(await page.locator('.rows li').count()).toBe(25);
      const failed = page.locator('.rows li').filter({ hasText: 'failed' });
      expect(await failed.count()).toBe(4);
      expect(await failed.first().locator('.cost').textContent()).toBe('$0');
      expect(await page.locator('.rows li').first().textContent()).toContain('1,234 tokens in, 567 out');
    });
  });

  test('KEY-4 a page that is still loading does not delay a refreshed list', async () => {
    await open({}, async (page) => {
      const { promise, resolve: pass } = Promise.withResolvers<void>();
      const more = page.getByRole('button', { name: 'Show more' });
      scene.app.gates.set('/app/api/usage', promise);
      await more.click();
      await page.locator('#requests').getByRole('button', { name: 'Loading' }).waitFor();
      scene.app.gates.clear();
      await page.getByRole('button', { name: 'Refresh' }).click();
      await more.click();
      await page.getByText('Failed: 3, cost $0').waitFor();
      expect(await page.locator('.rows li').count()).toBe(20);
      pass();
    });
  });

  test('KEY-4 prices are found by words and by kind', async () => {
    await open({}, async (page) => {
      const models = page.locator('.models > li');
      await page.getByLabel('Kind').selectOption({ label: 'video' });
      const videos = await models.count();
      expect(videos).toBeGreaterThan(0);
      await page.getByLabel('Search models').fill('SEEDANCE fast');
      await page.getByText('1 model', { exact: true }).waitFor();
      expect(await models.textContent()).toContain('seedance-2-0-fast');
      await page.getByLabel('Search models').fill('no such thing');
      await page.getByText('No model matches.').waitFor();
    });
  });

  test('KEY-4 each client has a snippet with the URL of this gateway, and Copy copies it', async () => {
    await open({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
      const quickstart = page.locator('#quickstart');
      for (const [client, hint] of [
        ['curl', `export GATEWAY_URL=${scene.app.url} GATEWAY_KEY=sk-service-...`],
        ['OpenAI Python', `base_url="${scene.app.url}/v1", api_key=os.environ["GATEWAY_KEY"]`],
        ['OpenAI JS', `baseURL: '${scene.app.url}/v1', apiKey: process.env.GATEWAY_KEY`],
        ['Anthropic', `base_url="${scene.app.url}", api_key=os.environ["GATEWAY_KEY"]`],
        ['Google', `base_url="${scene.app.url}"`],
      ] as const) {
        await quickstart.getByRole('radio', { name: client }).check();
        await quickstart.getByRole('button', { name: 'Copy' }).click();
        await quickstart.getByText('Copied').waitFor();
        const copied = await page.evaluate('navigator.clipboard.readText()');
        expect(copied).toContain(hint);
        expect(copied).toBe(await page.locator('#snippet').textContent());
        expect(copied).not.toContain('MODEL');
      }
    });
  });

  test('KEY-4 a threshold with a comma is saved, and text that is not an amount is not sent', async () => {
    await open({ language: 'ru' }, async (page) => {
      const field = page.getByLabel('Уведомить, когда баланс снизится до (USD)');
      expect(await field.inputValue()).toBe('2,5');
      await field.fill('много');
      await field.press('Enter');
      await page.getByText('Укажите сумму').waitFor();
      await field.fill('3,75');
      await field.press('Enter');
      await page.getByText('Сохранено').waitFor();
      expect(scene.app.posted).toEqual([{ threshold_usd: '3.75' }]);
      expect(await field.inputValue()).toBe('3,75');
    });
  });
});
